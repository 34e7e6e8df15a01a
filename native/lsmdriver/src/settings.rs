//! Which store a plan opens, and the objects that its families share.

use serde::Deserialize;

use crate::kinds::{require, Operation};

/// The kind of a plan's library.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    #[default]
    Rocksdb,
    Leveldb,
    Lmdb,
}

/// Kinds of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StoreKind {
    Plain {},
    /// Each write is a transaction with locks.
    Transaction {},
    /// Compactions drop records that are older than `seconds`.
    Ttl {
        seconds: i32,
    },
}

impl Default for StoreKind {
    fn default() -> Self {
        Self::Plain {}
    }
}

/// A cache of blocks. A field that is None has the default of the RocksDB version.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockCache {
    #[serde(default)]
    pub kind: CacheKind,
    pub bytes: usize,
    /// The cache has 2^`shard_bits` parts, each with a lock. With -1, RocksDB derives the number
    /// from the size.
    pub shard_bits: Option<i32>,
    /// The share of the cache for indexes and filters, if the table options give them high
    /// priority.
    pub high_priority_ratio: Option<f64>,
    /// The share of the cache for data blocks.
    pub low_priority_ratio: Option<f64>,
}

/// How a cache chooses the blocks that it drops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    #[default]
    Lru,
    HyperClock,
}

/// A limit of the bytes that flushes and compactions write.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimiter {
    pub bytes_per_second: i64,
    /// Whether the limit follows the load, with `bytes_per_second` as its upper end.
    #[serde(default)]
    pub auto_tuned: bool,
}

impl StoreKind {
    /// Whether the store does not have the operation.
    ///
    /// A store with a time to live drops single deletes without an error.
    pub fn lacks(self, operation: Operation) -> bool {
        match self {
            Self::Plain {} => false,
            Self::Transaction {} => operation == Operation::RangeDelete,
            Self::Ttl { .. } => operation == Operation::SingleDelete,
        }
    }
}

impl BlockCache {
    /// Refuse values with which RocksDB would make no cache, without an error.
    pub fn check(&self) -> Result<(), String> {
        let bits = self.shard_bits.unwrap_or(-1);
        require((-1..20).contains(&bits), "shard_bits: must be from -1 to 19")?;
        let ratios = [self.high_priority_ratio, self.low_priority_ratio];
        if self.kind == CacheKind::HyperClock {
            let none = ratios == [None, None];
            return require(
                none,
                "kind: hyper_clock has no high_priority_ratio and no low_priority_ratio",
            );
        }
        let [high, low] = [ratios[0].unwrap_or(0.5), ratios[1].unwrap_or(0.0)];
        require((0.0..=1.0).contains(&high), "high_priority_ratio: must be from 0 to 1")?;
        require((0.0..=1.0).contains(&low), "low_priority_ratio: must be from 0 to 1")?;
        let fits = high + low <= 1.0;
        require(
            fits,
            "low_priority_ratio: the sum with high_priority_ratio (default 0.5) must be at most 1",
        )
    }
}
