//! A load of db_bench, as a stream of the keys of a sample.
//!
//! The run follows one of `every` keys, and one of `every` operations writes such a key. So keys
//! are overwritten as often as in the whole load. The sample bounds memory and time.

use serde::{Deserialize, Serialize};

use crate::tree::Record;

/// The load and its data. Sizes are bytes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct Load {
    pub name: Name,
    pub num: u64,
    /// The number of operations of each client. None: `num`.
    pub operations: Option<u64>,
    pub key_size: u64,
    pub value_size: u64,
    pub threads: u64,
    pub compression_ratio: f64,
    /// The skew of random keys: key `num * exp(-r)` with r from 0 to this number, spread over all
    /// keys (`GetRandomKey` in tools/db_bench_tool.cc). None: all keys are equally likely.
    pub write_skew: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Name {
    /// Random keys: some are written twice, some never.
    Fillrandom,
    /// Keys in their order.
    Fillseq,
    /// Random keys of a settled store that has each key.
    Overwrite,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            name: Name::Fillrandom,
            num: 1_000_000,
            operations: None,
            key_size: 16,
            value_size: 100,
            threads: 1,
            compression_ratio: 0.5,
            write_skew: None,
        }
    }
}

impl Load {
    /// The number of records that all clients write.
    pub fn operations(&self) -> f64 {
        (self.operations.unwrap_or(self.num) * self.threads.max(1)) as f64
    }

    /// Whether the load starts on a store that has each key.
    pub fn is_prepared(&self) -> bool {
        self.name == Name::Overwrite
    }
}

/// About this number of keys is followed, or each key of a smaller load.
const FOLLOWED: u64 = 1 << 16;
/// At least this number of records of each full memtable is followed. With fewer, files of a large
/// tree would overlap too few files of the next level.
const LEAST_PER_MEMTABLE: f64 = 60.0;

/// The part of a load's keys that a run follows.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// One key in `every` is followed.
    pub every: u64,
    /// Number of keys that are followed.
    pub keys: u32,
}

impl Sample {
    /// The sample for memtables with this number of records.
    pub fn of(load: &Load, records_per_memtable: f64) -> Self {
        let most = (records_per_memtable / LEAST_PER_MEMTABLE) as u64;
        let every = load.num.div_ceil(FOLLOWED).min(most).max(1);
        Self { every, keys: (load.num / every).max(1) as u32 }
    }
}

/// The keys of a load's operations, one after the other.
pub struct Keys {
    drawn: Drawn,
    sequence: u32,
    /// One of `every` operations writes a key of this sample.
    pub sample: Sample,
}

enum Drawn {
    /// A random key each time.
    Randomly(RandomKeys),
    /// One key after the other.
    From(Box<dyn Iterator<Item = u32>>),
    /// These keys, and then a random key each time.
    TurnOver(std::vec::IntoIter<u32>, RandomKeys),
}

impl Keys {
    /// The keys that the load writes.
    pub fn new(load: &Load, sample: Sample, seed: u64) -> Self {
        let drawn = match load.name {
            Name::Fillrandom | Name::Overwrite => {
                Drawn::Randomly(RandomKeys::new(load.write_skew, sample, seed))
            }
            Name::Fillseq => Drawn::From(Box::new((0..sample.keys).cycle())),
        };
        // The records of the store come before those of the load.
        let sequence = if load.is_prepared() { sample.keys } else { 0 };
        Self { drawn, sequence, sample }
    }

    /// Each key once in random order: the store on which a load starts.
    pub fn each_once(sample: Sample, seed: u64) -> Self {
        let drawn = Drawn::From(Box::new(shuffled(sample, seed).into_iter().cycle()));
        Self { drawn, sequence: 0, sample }
    }

    /// Each key once in random order, and then the keys that the load writes. They come after the
    /// records with sequence numbers up to `sequence`.
    pub fn turning_over(load: &Load, sample: Sample, seed: u64, sequence: u32) -> Self {
        let random = RandomKeys::new(load.write_skew, sample, seed);
        let drawn = Drawn::TurnOver(shuffled(sample, seed).into_iter(), random);
        Self { drawn, sequence, sample }
    }

    /// The sequence number of the last record.
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// The records that the next `operations` operations of the sample write, in their order.
    pub fn take(&mut self, operations: usize) -> Vec<Record> {
        (0..operations).map(|_| self.write()).collect()
    }

    fn write(&mut self) -> Record {
        self.sequence += 1;
        let key = match &mut self.drawn {
            Drawn::Randomly(keys) => keys.draw(),
            Drawn::From(keys) => keys.next().expect("the keys start again at their end"),
            Drawn::TurnOver(keys, random) => keys.next().unwrap_or_else(|| random.draw()),
        };
        Record::new(key, self.sequence)
    }
}

fn shuffled(sample: Sample, seed: u64) -> Vec<u32> {
    let mut keys: Vec<u32> = (0..sample.keys).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut keys);
    keys
}

/// Random keys of a sample, as frequent as those of the whole load.
///
/// A key of the sample represents `every` keys with neighbouring ranks. If it is written at least
/// once until a memtable is full, nearly all of them are. So the sample has as many different keys
/// as the load, divided by `every`.
pub struct RandomKeys {
    rng: fastrand::Rng,
    keys: u32,
    skew: Option<f64>,
}

/// Spreads frequent keys (kBigPrime in GetRandomKey of tools/db_bench_tool.cc).
const PRIME: u64 = 0x5BD1_E995;

impl RandomKeys {
    pub fn new(skew: Option<f64>, sample: Sample, seed: u64) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed), keys: sample.keys, skew }
    }

    pub fn draw(&mut self) -> u32 {
        let Some(skew) = self.skew else { return self.rng.u32(0..self.keys) };
        let rank = (f64::from(self.keys) * (-self.rng.f64() * skew).exp()) as u64;
        (rank * PRIME % u64::from(self.keys)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn different(skew: Option<f64>, every: u64) -> f64 {
        let load = Load { num: 1_000_000, write_skew: skew, ..Load::default() };
        let sample = Sample { every, keys: (load.num / every) as u32 };
        let written = Keys::new(&load, sample, 1).take((200_000 / every) as usize);
        let mut keys: Vec<u32> = written.iter().map(|record| record.key()).collect();
        keys.sort_unstable();
        keys.dedup();
        (keys.len() as u64 * every) as f64
    }

    #[test]
    fn skewed_writes_have_fewer_different_keys() {
        let uniform = different(None, 1);
        assert!(different(Some(2.0), 1) < uniform);
        assert!(different(Some(13.8), 1) < 0.4 * uniform);
    }

    #[test]
    fn a_sample_has_as_many_different_keys_as_the_load() {
        for skew in [None, Some(5.0), Some(13.8)] {
            let (all, sampled) = (different(skew, 1), different(skew, 20));
            assert!((sampled / all - 1.0).abs() < 0.1, "{skew:?}: {sampled} {all}");
        }
    }
}
