//! The kind of a plan's store, and the objects that its families share.

use serde::Deserialize;

use crate::kinds::{require, Operation};
use crate::plan::{Group, Phase, Plan, DEFAULT_FAMILY};

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

/// Check that RocksDB has such a store, and that the store has all operations of the plan. The
/// failure names the place in the plan.
pub fn check(plan: &Plan) -> Result<(), String> {
    if let Some(cache) = &plan.block_cache {
        cache.check().map_err(|problem| format!("block_cache.{problem}"))?;
    }
    if let Some(limiter) = &plan.rate_limiter {
        let sound = limiter.bytes_per_second >= 1;
        require(sound, "rate_limiter.bytes_per_second: must be at least 1")?;
    }
    if let StoreKind::Ttl { seconds } = plan.store {
        require(seconds >= 1, "store.seconds: must be at least 1")?;
    }
    let named = !plan.families.contains_key(DEFAULT_FAMILY);
    require(named, "families: the options of the family default are those of the plan")?;
    for (phase, run) in plan.phases.iter().enumerate() {
        let Phase::Run(run) = run else { continue };
        for (number, group) in run.groups.iter().enumerate() {
            check_group(plan, group)
                .map_err(|problem| format!("phases[{phase}].groups[{number}].{problem}"))?;
        }
    }
    Ok(())
}

fn check_group(plan: &Plan, group: &Group) -> Result<(), String> {
    let family = &group.family;
    let known = family == DEFAULT_FAMILY || plan.families.contains_key(family);
    require(known, &format!("family: the plan has no family {family}"))?;
    let possible =
        !plan.store.lacks(Operation::SingleDelete) || !group.does(Operation::SingleDelete);
    require(possible, "mix.single_delete: not possible in a store with a time to live")?;
    let possible = !plan.store.lacks(Operation::RangeDelete) || group.range_delete.is_none();
    require(possible, "range_delete: not possible in a store with transactions")
}

impl StoreKind {
    /// Whether the store does not have the operation.
    ///
    /// A store with a time to live drops single deletes without an error.
    fn lacks(self, operation: Operation) -> bool {
        match self {
            Self::Plain {} => false,
            Self::Transaction {} => operation == Operation::RangeDelete,
            Self::Ttl { .. } => operation == Operation::SingleDelete,
        }
    }
}

impl BlockCache {
    /// Refuse values with which RocksDB would make no cache, without an error.
    fn check(&self) -> Result<(), String> {
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
