//! One client of a run: a thread that sends operations, measures their times and checks their
//! results.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::arrivals::{Arrivals, Kept, Schedule};
use crate::blocks::Blocks;
use crate::cpu;
use crate::failure::{Failure, Kind};
use crate::found::Found;
use crate::keys::Sequence;
use crate::kinds::Operation;
use crate::pace::Pace;
use crate::plan::{Group, Run};
use crate::records::{repeats, write_key, Values};
use crate::stores::Session;
use crate::times::{Done, Tally};

/// A thread that sends operations.
pub struct Client<'a> {
    pub plan: &'a Run,
    pub group: &'a Group,
    pub sequence: &'a Sequence,
    pub values: &'a Values,
    pub session: &'a dyn Session,
    pub pace: Option<&'a Pace>,
    pub arrivals: Option<&'a Arrivals>,
    /// Its number in the group.
    pub number: u64,
    /// The operations of the current second.
    pub tally: Mutex<Tally>,
    pub sent: Sent,
}

/// What a client has sent since the run started. Only the client changes it.
#[derive(Default)]
pub struct Sent {
    pub operations: AtomicU64,
    /// The bytes of the keys and values that it wrote.
    pub written_bytes: AtomicU64,
}

/// The work of a client.
pub struct Work {
    pub began: Instant,
    pub ended: Instant,
    /// The CPU time of its thread, without its waits.
    pub cpu: Duration,
    /// How it has kept its due times, if it had some.
    pub kept: Option<Kept>,
    /// The blocks that it has read, if its session counts them.
    pub blocks: Option<Blocks>,
}

/// Counts of a client, and buffers for its keys.
struct Progress<'a> {
    schedule: Option<Schedule<'a>>,
    /// The CPU time of its waits.
    waits: Duration,
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

impl Client<'_> {
    pub fn ends_by_itself(&self) -> bool {
        self.group.operations.is_some()
    }

    /// Send all operations, or send them until `stop` is set. The run started at `started`.
    pub fn work(&self, started: Instant, stop: &AtomicBool) -> Result<Work, Failure> {
        let (began, cpu) = (Instant::now(), cpu::of_thread());
        let mut progress = self.begin(started);
        self.send(&mut progress, stop)?;
        Ok(Work {
            began,
            ended: Instant::now(),
            cpu: (cpu::of_thread() - cpu).saturating_sub(progress.waits),
            kept: progress.schedule.map(|schedule| schedule.kept),
            blocks: self.session.end(),
        })
    }

    fn send(&self, progress: &mut Progress, stop: &AtomicBool) -> Result<(), Failure> {
        for operation in 0..self.group.operations.unwrap_or(u64::MAX) {
            let kind = self.sequence.kind(self.number, operation);
            let number = self.draw(operation, kind, progress);
            let mut due = None;
            if let Some(schedule) = &mut progress.schedule {
                let Some(next) = schedule.wait(operation, stop) else { break };
                progress.waits += next.cpu;
                due = Some(next);
            }
            progress.waits += self.keep_pace(kind, number, stop);
            if stop.load(Ordering::Relaxed) {
                break;
            }
            write_key(number, &mut progress.key);
            let done = match kind {
                Operation::Get => self.get(number, progress)?,
                Operation::MultiGet => self.multi_get(operation, progress)?,
                Operation::ReadModifyWrite => self.read_modify_write(number, progress)?,
                _ => self.write_or_scan(kind, number, &progress.key)?,
            };
            let late = match (&mut progress.schedule, due) {
                (Some(schedule), Some(due)) => schedule.begun(&due, done.began),
                _ => Duration::ZERO,
            };
            self.count(kind, &done, late, self.bytes(kind, number));
            if kind == Operation::Put {
                progress.puts += 1;
                self.delete_range_if_due(operation, progress)?;
            }
        }
        Ok(())
    }

    fn begin(&self, started: Instant) -> Progress<'_> {
        let schedule = |arrivals| Schedule::begin(arrivals, self.number, self.plan, started);
        let (size, batch) = (self.plan.key_size, self.group.batch as usize);
        // No client writes a key that is one byte longer (readmissing of db_bench).
        let read_key = vec![0; size + usize::from(self.group.missing)];
        let batched = self.group.does(Operation::MultiGet);
        Progress {
            schedule: self.arrivals.map(schedule),
            waits: Duration::ZERO,
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

    /// The bytes of the key and the value that an operation writes.
    fn bytes(&self, kind: Operation, number: u64) -> usize {
        if kind.writes() {
            self.plan.key_size + self.values.of(number).len()
        } else if kind.deletes() {
            self.plan.key_size
        } else {
            0
        }
    }

    /// Wait until the operation may be done. The wait is not part of its time. Return the CPU time
    /// of the wait.
    fn keep_pace(&self, kind: Operation, number: u64, stop: &AtomicBool) -> Duration {
        match (self.pace, self.bytes(kind, number)) {
            (None, _) | (_, 0) => Duration::ZERO,
            (Some(pace), bytes) => pace.wait(bytes, stop),
        }
    }

    fn write_or_scan(&self, kind: Operation, number: u64, key: &[u8]) -> Result<Done, Failure> {
        let (session, length) = (self.session, self.group.scan_length);
        let mut records = 1;
        let began = Instant::now();
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
            | Operation::RangeDelete
            | Operation::GetMissing => unreachable!("other functions do {kind:?}"),
        }
        Ok(Done { began, took: began.elapsed(), records, checked: 0 })
    }

    fn get(&self, number: u64, progress: &mut Progress) -> Result<Done, Failure> {
        write_key(number, &mut progress.read_key);
        let began = Instant::now();
        let found = self.session.get(&progress.read_key)?;
        let took = began.elapsed();
        if self.group.missing && found.is_some() {
            return Err(unexpected(number));
        }
        let found = found.as_ref().map(Found::value);
        let checked = self.judge(number, found, &mut progress.gets)?;
        Ok(Done { began, took, records: u64::from(found.is_some()), checked })
    }

    fn multi_get(&self, operation: u64, progress: &mut Progress) -> Result<Done, Failure> {
        for place in 0..progress.batch.len() {
            let draw = operation * self.group.batch + place as u64;
            let number = self.draw(draw, Operation::MultiGet, progress);
            progress.numbers[place] = number;
            write_key(number, &mut progress.batch[place]);
        }
        let began = Instant::now();
        let values = self.session.multi_get(&progress.batch)?;
        let mut done = Done { began, took: began.elapsed(), records: 0, checked: 0 };
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
        let began = Instant::now();
        let found = self.session.get(&progress.key)?;
        self.session.put(&progress.key, self.values.of(number))?;
        let took = began.elapsed();
        let found = found.as_ref().map(Found::value);
        let checked = self.judge(number, found, &mut progress.gets)?;
        Ok(Done { began, took, records: u64::from(found.is_some()), checked })
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
        let began = Instant::now();
        self.session.delete_range(&progress.key, &end)?;
        let done = Done { began, took: began.elapsed(), records: 1, checked: 0 };
        // It is due when the put before it has ended.
        let bytes = progress.key.len() + end.len();
        self.count(Operation::RangeDelete, &done, Duration::ZERO, bytes);
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

    /// Count an operation that began `late` after its due time, and wrote `bytes`.
    fn count(&self, kind: Operation, done: &Done, late: Duration, bytes: usize) {
        let mut tally = self.tally.lock().expect("a panic ends the process");
        tally.count(self.group.told(kind), done, late);
        let Sent { operations, written_bytes } = &self.sent;
        let grow = |total: &AtomicU64, more| {
            total.store(total.load(Ordering::Relaxed) + more, Ordering::Relaxed);
        };
        grow(operations, 1);
        grow(written_bytes, bytes as u64);
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
