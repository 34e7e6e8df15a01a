//! One client of a run: a thread that sends operations, measures their times and checks their
//! results.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Kind};
use crate::keys::Sequence;
use crate::kinds::Operation;
use crate::pace::Pace;
use crate::plan::{Group, Run};
use crate::records::{repeats, write_key, Values};
use crate::stores::{Found, Session};
use crate::times::Tally;

/// A thread that sends operations.
pub struct Client<'a> {
    pub plan: &'a Run,
    pub group: &'a Group,
    pub sequence: &'a Sequence,
    pub values: &'a Values,
    pub session: &'a dyn Session,
    pub pace: Option<&'a Pace>,
    /// Its number in the group.
    pub number: u64,
    /// The operations of the current second.
    pub tally: Mutex<Tally>,
}

/// Counts of a client, and buffers for its keys.
struct Progress {
    /// The number of keys that range deletes have drawn.
    extra_draws: u64,
    puts: u64,
    gets: u64,
    key: Vec<u8>,
    /// The key of a get, which is longer than `key` if the group reads missing keys.
    read_key: Vec<u8>,
    /// The keys of a multi-get, and their numbers.
    batch: Vec<Vec<u8>>,
    numbers: Vec<u64>,
}

/// The result of an operation.
struct Done {
    took: Duration,
    records: u64,
    checked: u64,
}

impl Client<'_> {
    pub fn ends_by_itself(&self) -> bool {
        self.group.operations.is_some()
    }

    /// Send all operations, or send them until `stop` is set.
    pub fn work(&self, stop: &AtomicBool) -> Result<(), Failure> {
        let mut progress = self.begin();
        for operation in 0..self.group.operations.unwrap_or(u64::MAX) {
            let kind = self.sequence.kind(self.number, operation);
            let number = self.draw(operation, kind, &progress);
            self.keep_pace(kind, number, stop);
            if stop.load(Ordering::Relaxed) {
                break;
            }
            write_key(number, &mut progress.key);
            let done = match kind {
                Operation::Get => self.get(number, &mut progress)?,
                Operation::MultiGet => self.multi_get(operation, &mut progress)?,
                Operation::ReadModifyWrite => self.read_modify_write(number, &mut progress)?,
                _ => self.write_or_scan(kind, number, &progress.key)?,
            };
            self.count(kind, &done);
            if kind == Operation::Put {
                progress.puts += 1;
                self.delete_range_if_due(operation, &mut progress)?;
            }
        }
        Ok(())
    }

    fn begin(&self) -> Progress {
        let (size, batch) = (self.plan.key_size, self.group.batch as usize);
        // No client writes a key that is one byte longer (readmissing of db_bench).
        let read_key = vec![0; size + usize::from(self.group.missing)];
        let batched = self.group.does(Operation::MultiGet);
        Progress {
            extra_draws: 0,
            puts: 0,
            gets: 0,
            key: vec![0; size],
            batch: if batched { vec![read_key.clone(); batch] } else { Vec::new() },
            numbers: if batched { vec![0; batch] } else { Vec::new() },
            read_key,
        }
    }

    /// Draw the number of a key. Range deletes draw from the same sequence, as in db_bench.
    fn draw(&self, operation: u64, kind: Operation, progress: &Progress) -> u64 {
        self.sequence.key(self.number, operation + progress.extra_draws, progress.puts, kind)
    }

    /// Wait until the operation may be done. The wait is not part of its time.
    fn keep_pace(&self, kind: Operation, number: u64, stop: &AtomicBool) {
        let Some(pace) = self.pace else { return };
        if kind.writes() {
            pace.wait(self.plan.key_size + self.values.of(number).len(), stop);
        } else if kind.deletes() {
            pace.wait(self.plan.key_size, stop);
        }
    }

    fn write_or_scan(&self, kind: Operation, number: u64, key: &[u8]) -> Result<Done, Failure> {
        let (session, length) = (self.session, self.group.scan_length);
        let mut records = 1;
        let started = Instant::now();
        match kind {
            Operation::Put => session.put(key, self.values.of(number))?,
            Operation::Merge => session.merge(key, self.values.of(number))?,
            Operation::Delete => session.delete(key)?,
            Operation::SingleDelete => session.single_delete(key)?,
            Operation::Scan => records = session.scan(key, length, false)?,
            Operation::ScanBackward => records = session.scan(key, length, true)?,
            Operation::Get
            | Operation::MultiGet
            | Operation::ReadModifyWrite
            | Operation::RangeDelete => unreachable!("other functions do {kind:?}"),
        }
        Ok(Done { took: started.elapsed(), records, checked: 0 })
    }

    fn get(&self, number: u64, progress: &mut Progress) -> Result<Done, Failure> {
        write_key(number, &mut progress.read_key);
        let started = Instant::now();
        let found = self.session.get(&progress.read_key)?;
        let took = started.elapsed();
        if self.group.missing && found.is_some() {
            return Err(unexpected(number));
        }
        let found = found.as_ref().map(Found::value);
        let checked = self.judge(number, found, &mut progress.gets)?;
        Ok(Done { took, records: u64::from(found.is_some()), checked })
    }

    fn multi_get(&self, operation: u64, progress: &mut Progress) -> Result<Done, Failure> {
        for place in 0..progress.batch.len() {
            let draw = operation * self.group.batch + place as u64;
            let number = self.draw(draw, Operation::MultiGet, progress);
            progress.numbers[place] = number;
            write_key(number, &mut progress.batch[place]);
        }
        let started = Instant::now();
        let values = self.session.multi_get(&progress.batch)?;
        let mut done = Done { took: started.elapsed(), records: 0, checked: 0 };
        for (&number, found) in progress.numbers.iter().zip(&values) {
            if self.group.missing && found.is_some() {
                return Err(unexpected(number));
            }
            let found = found.as_ref().map(Found::value);
            done.records += u64::from(found.is_some());
            done.checked += self.judge(number, found, &mut progress.gets)?;
        }
        Ok(done)
    }

    fn read_modify_write(&self, number: u64, progress: &mut Progress) -> Result<Done, Failure> {
        let started = Instant::now();
        let found = self.session.get(&progress.key)?;
        self.session.put(&progress.key, self.values.of(number))?;
        let took = started.elapsed();
        let found = found.as_ref().map(Found::value);
        let checked = self.judge(number, found, &mut progress.gets)?;
        Ok(Done { took, records: u64::from(found.is_some()), checked })
    }

    /// After each n-th put, delete a range that starts at the next key (DoWrite of db_bench).
    fn delete_range_if_due(&self, operation: u64, progress: &mut Progress) -> Result<(), Failure> {
        let Some(ranges) = self.group.range_delete else { return Ok(()) };
        let due = progress.puts % ranges.every == 0 && progress.extra_draws < ranges.at_most;
        if !due {
            return Ok(());
        }
        let first = self.draw(operation + 1, Operation::RangeDelete, progress);
        progress.extra_draws += 1;
        let mut end = vec![0; self.plan.key_size];
        write_key(first, &mut progress.key);
        write_key(first.saturating_add(ranges.width).min(self.plan.last_key()), &mut end);
        let started = Instant::now();
        self.session.delete_range(&progress.key, &end)?;
        let done = Done { took: started.elapsed(), records: 1, checked: 0 };
        self.count(Operation::RangeDelete, &done);
        Ok(())
    }

    /// Check the result of a get. Return the number of values that were compared.
    fn judge(&self, number: u64, found: Option<&[u8]>, gets: &mut u64) -> Result<u64, Failure> {
        let due = self.group.check_every > 0 && *gets % self.group.check_every == 0;
        *gets += 1;
        match found {
            Some(found) if due => self.check(number, found).map(|()| 1),
            None if self.group.must_find => Err(lost(number)),
            _ => Ok(0),
        }
    }

    fn check(&self, number: u64, found: &[u8]) -> Result<(), Failure> {
        let written = self.values.of(number);
        if found == written || (self.session.appends() && repeats(found, written)) {
            return Ok(());
        }
        let differs = found.iter().zip(written).take_while(|(one, other)| one == other).count();
        Err(Kind::Wrong.because(format!(
            "get: the value of key number {number} differs from the one written, first at byte \
             {differs}; it has {} bytes, the one written has {}",
            found.len(),
            written.len(),
        )))
    }

    fn count(&self, kind: Operation, done: &Done) {
        let mut tally = self.tally.lock().expect("a panic ends the process");
        tally.count(kind, done.took, done.records, done.checked);
    }
}

fn lost(number: u64) -> Failure {
    Kind::Wrong.because(format!("get: key number {number} was written, but is not found"))
}

fn unexpected(number: u64) -> Failure {
    Kind::Wrong.because(format!(
        "get: the key that is one byte longer than key number {number} was never written, but is \
         found"
    ))
}
