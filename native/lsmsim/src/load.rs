//! What is written: a load of db_bench, as a stream of the keys of a sample.
//!
//! Only one key in `every` is followed, and one operation in `every` writes one: `n` operations on
//! `n` keys overwrite each other as often as a sample of both does. It bounds memory at any `num`.

use serde::Deserialize;

use crate::tree::Record;

/// The load and its data. Sizes are bytes.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Load {
    pub name: Name,
    pub num: u64,
    pub key_size: u64,
    pub value_size: u64,
    pub threads: u64,
    pub compression_ratio: f64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    /// Every key is drawn anew: some twice, some never.
    Fillrandom,
    /// Keys in their order.
    Fillseq,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            name: Name::Fillrandom,
            num: 1_000_000,
            key_size: 16,
            value_size: 100,
            threads: 1,
            compression_ratio: 0.5,
        }
    }
}

impl Load {
    /// How many records are written: each client writes `num`.
    pub fn operations(&self) -> f64 {
        (self.num * self.threads.max(1)) as f64
    }

    /// One in so many keys is followed.
    pub fn every(&self) -> u64 {
        self.num.div_ceil(MOST_FOLLOWED).max(1)
    }

    /// How many keys are followed.
    pub fn sampled_keys(&self) -> u32 {
        (self.num / self.every()).max(1) as u32
    }
}

/// So many keys are followed at most.
const MOST_FOLLOWED: u64 = 1 << 18;

/// The keys of a load's operations, one after the other.
pub struct Keys {
    rng: fastrand::Rng,
    in_order: bool,
    count: u32,
    next: u32,
    sequence: u32,
    /// One in so many operations writes a key of the sample.
    pub every: u64,
}

impl Keys {
    pub fn new(load: &Load, seed: u64) -> Self {
        Self {
            rng: fastrand::Rng::with_seed(seed),
            in_order: load.name == Name::Fillseq,
            count: load.sampled_keys(),
            next: 0,
            sequence: 0,
            every: load.every(),
        }
    }

    /// What the next so many operations of the sample write, in their order.
    pub fn take(&mut self, operations: usize) -> Vec<Record> {
        (0..operations).map(|_| self.write()).collect()
    }

    fn write(&mut self) -> Record {
        self.sequence += 1;
        Record::new(self.draw(), self.sequence)
    }

    fn draw(&mut self) -> u32 {
        if self.in_order {
            let key = self.next;
            self.next = (key + 1) % self.count;
            key
        } else {
            self.rng.u32(0..self.count)
        }
    }
}
