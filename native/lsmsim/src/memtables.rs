//! Memtables: the active one, the full ones, and those that are being flushed.

use std::collections::VecDeque;

use crate::load::Keys;
use crate::tree::{merged, File, Record};

/// A memtable that is full, or the rest of the load.
struct Memtable {
    sampled: Vec<Record>,
    records: f64,
}

/// A flush that runs, or that is done and waits for an older one.
struct Flush {
    number: u64,
    memtables: usize,
    records: f64,
    file: Option<File>,
}

/// The records that a flush writes: the newest of each key.
pub struct Flushed {
    pub number: u64,
    /// The number of records that the flush reads, and of those that it keeps.
    pub records: f64,
    pub kept: f64,
    pub sampled: Vec<Record>,
}

pub struct Memtables {
    keys: Keys,
    /// The number of records of a full memtable.
    pub capacity: f64,
    /// Records of the load so far, and those of them in full memtables or files.
    pub written: f64,
    switched: f64,
    /// Operations of the sample so far.
    sampled: u64,
    waiting: VecDeque<Memtable>,
    flushes: VecDeque<Flush>,
    next_flush: u64,
}

impl Memtables {
    pub fn new(keys: Keys, capacity: f64) -> Self {
        Self {
            keys,
            capacity,
            written: 0.0,
            switched: 0.0,
            sampled: 0,
            waiting: VecDeque::new(),
            flushes: VecDeque::new(),
            next_flush: 0,
        }
    }

    /// The number of records for which the active memtable has room.
    pub fn room(&self) -> f64 {
        self.switched + self.capacity - self.written
    }

    /// The sequence number of the last record in a full memtable.
    pub fn sequence(&self) -> u32 {
        self.keys.sequence()
    }

    /// The number of full memtables that wait for a flush.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The number of full memtables that are not in a file yet.
    pub fn unflushed(&self) -> usize {
        self.waiting.len() + self.flushes.iter().map(|flush| flush.memtables).sum::<usize>()
    }

    /// The number of records that are not in a file yet.
    pub fn unflushed_records(&self) -> f64 {
        let waiting: f64 = self.waiting.iter().map(|memtable| memtable.records).sum();
        let flushing: f64 = self.flushes.iter().map(|flush| flush.records).sum();
        waiting + flushing + self.written - self.switched
    }

    /// Let the active memtable wait for a flush, and begin a new one.
    pub fn switch(&mut self) {
        let upto = (self.written / self.keys.sample.every as f64) as u64;
        let operations = (upto - self.sampled).max(1) as usize;
        self.sampled = upto;
        let records = self.written - self.switched;
        self.switched = self.written;
        self.waiting.push_back(Memtable { sampled: self.keys.take(operations), records });
    }

    /// Begin to flush all waiting memtables. There must be at least one.
    pub fn flush(&mut self) -> Flushed {
        let memtables: Vec<Memtable> = self.waiting.drain(..).collect();
        let records: f64 = memtables.iter().map(|memtable| memtable.records).sum();
        let all: Vec<Record> = memtables.iter().flat_map(|m| m.sampled.iter().copied()).collect();
        let before = all.len() as f64;
        let sampled = merged(all);
        self.next_flush += 1;
        let number = self.next_flush;
        let flush = Flush { number, memtables: memtables.len(), records, file: None };
        self.flushes.push_back(flush);
        Flushed { number, records, kept: records * sampled.len() as f64 / before, sampled }
    }

    /// Take the file of a flush. Return the files that can be installed now: files of older flushes
    /// come first.
    pub fn finish(&mut self, number: u64, file: File) -> Vec<File> {
        if let Some(flush) = self.flushes.iter_mut().find(|flush| flush.number == number) {
            flush.file = Some(file);
        }
        let mut ready = Vec::new();
        while let Some(file) = self.flushes.front_mut().and_then(|flush| flush.file.take()) {
            self.flushes.pop_front();
            ready.push(file);
        }
        ready
    }
}
