//! What a plan says of the store: its kind, and the objects that its families share.

use serde::Deserialize;

use crate::kinds::{require, Operation};
use crate::plan::{Group, Phase, Plan, DEFAULT_FAMILY};

/// What is around the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StoreKind {
    Plain {},
    /// Each write is a transaction with locks.
    Transaction {},
    /// Compactions drop what is older.
    Ttl {
        seconds: i32,
    },
}

impl Default for StoreKind {
    fn default() -> Self {
        Self::Plain {}
    }
}

/// A cache of blocks. What is not given is as RocksDB of that version has it by default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockCache {
    #[serde(default)]
    pub kind: CacheKind,
    pub bytes: usize,
    /// The logarithm of the number of parts, each with a lock of its own; -1: by the size.
    pub shard_bits: Option<i32>,
    /// The share that is kept for indexes and filters, if table options give them high priority.
    pub high_priority_ratio: Option<f64>,
    /// The share that is kept for data blocks.
    pub low_priority_ratio: Option<f64>,
}

/// How a cache chooses what to drop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    #[default]
    Lru,
    HyperClock,
}

/// A limit of what flushes and compactions write.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimiter {
    pub bytes_per_second: i64,
    /// Whether the limit follows the load, with `bytes_per_second` as its upper end.
    #[serde(default)]
    pub auto_tuned: bool,
}

/// Whether RocksDB has such a store, and the store all that the plan does. The failure names the
/// place of what is wrong.
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
    let refused =
        !plan.store.lacks(Operation::SingleDelete) || !group.does(Operation::SingleDelete);
    require(refused, "mix.single_delete: stores with a time to live have none")?;
    let refused = !plan.store.lacks(Operation::RangeDelete) || group.range_delete.is_none();
    require(refused, "range_delete: stores with transactions have none")
}

impl StoreKind {
    /// Whether the store has no such operation.
    ///
    /// A store with a time to live drops single deletes and does not say so.
    fn lacks(self, operation: Operation) -> bool {
        match self {
            Self::Plain {} => false,
            Self::Transaction {} => operation == Operation::RangeDelete,
            Self::Ttl { .. } => operation == Operation::SingleDelete,
        }
    }
}

impl BlockCache {
    /// RocksDB makes no cache at all of what is refused here, and does not say so.
    fn check(&self) -> Result<(), String> {
        let bits = self.shard_bits.unwrap_or(-1);
        require((-1..20).contains(&bits), "shard_bits: must be from -1 to 19")?;
        let ratios = [self.high_priority_ratio, self.low_priority_ratio];
        if self.kind == CacheKind::HyperClock {
            let none = ratios == [None, None];
            return require(
                none,
                "kind: hyper_clock has no high_priority_ratio, low_priority_ratio",
            );
        }
        let [high, low] = [ratios[0].unwrap_or(0.5), ratios[1].unwrap_or(0.0)];
        require((0.0..=1.0).contains(&high), "high_priority_ratio: must be from 0 to 1")?;
        require((0.0..=1.0).contains(&low), "low_priority_ratio: must be from 0 to 1")?;
        let fits = high + low <= 1.0;
        require(fits, "low_priority_ratio: is above 1 with high_priority_ratio (default 0.5)")
    }
}
