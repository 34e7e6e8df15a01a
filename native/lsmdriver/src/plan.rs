//! The plan: which store to open and what to do with it, as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::kinds::{require, Choice, Operation, RangeDeletes, Sizes};
use crate::settings::{BlockCache, Engine, RateLimiter, StoreKind};

/// Number of bits for the number of an operation. The other bits are for the number of a client.
pub const OPERATION_BITS: u32 = 40;
const MOST_OPERATIONS: u64 = 1 << OPERATION_BITS;
const MOST_BATCH: u64 = 1 << 16;
const MOST_KEY_BYTES: usize = 1 << 16;
/// The bounds of operations per second.
const SLOWEST: f64 = 1e-3;
const FASTEST: f64 = 1e9;

/// A plan. Its phases run one after the other on one open store.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    #[serde(default)]
    pub engine: Engine,
    /// The file of the store's library. For LevelDB and LMDB it may be a name without a folder,
    /// for which the system searches.
    pub library: PathBuf,
    /// The folder of the store.
    pub folder: PathBuf,
    /// Whether the store must exist already. Otherwise it must not exist.
    #[serde(default)]
    pub existing: bool,
    #[serde(default)]
    pub store: StoreKind,
    /// Options of the database and of its default family, as `key=value;key={a=1;b=2}`.
    #[serde(default)]
    pub options: String,
    /// The names of the other families with their options.
    #[serde(default)]
    pub families: BTreeMap<String, String>,
    /// The block cache. Without it, RocksDB makes its own.
    pub block_cache: Option<BlockCache>,
    /// The capacity of a cache of records. Without it there is none.
    pub row_cache_bytes: Option<usize>,
    /// A limit of the bytes that flushes and compactions write. Without it there is none.
    pub rate_limiter: Option<RateLimiter>,
    /// The number of threads that compact only into the last level. Without it there are none.
    pub bottom_priority_threads: Option<u16>,
    /// Whether RocksDB counts what it does, which costs time.
    #[serde(default = "yes")]
    pub statistics: bool,
    pub phases: Vec<Phase>,
}

/// A part of the plan.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Phase {
    /// Clients send operations.
    Run(Run),
    /// Write the memtables into tables.
    Flush {},
    /// Rewrite all tables, also those of the last level.
    Compact {},
    /// Wait until no flush or compaction runs for `quiet_s`. The plan fails after `limit_s`.
    Settle { quiet_s: f64, limit_s: f64 },
    /// Print the statistics since the store was opened.
    Report {},
}

/// Clients that send operations at the same time.
///
/// A group with `operations` ends by itself. A group without runs until all groups with
/// `operations` have ended. After `seconds`, all groups end. Without both, a run has no end.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub name: String,
    /// The number of different keys.
    pub num: u64,
    pub key_size: usize,
    pub value_size: Sizes,
    /// The share of its size to which a value compresses.
    pub compression_ratio: f64,
    pub seconds: Option<f64>,
    /// The time between two samples of the store, in milliseconds. Without it, there are none.
    pub sample_ms: Option<u64>,
    /// Whether each write waits until it is on the device.
    #[serde(default)]
    pub sync: bool,
    /// Whether writes do not go to the write-ahead log.
    #[serde(default)]
    pub disable_wal: bool,
    pub groups: Vec<Group>,
}

/// Clients that do the same operations, each with its own keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    #[serde(default = "one")]
    pub clients: u64,
    /// The family of the store.
    #[serde(default = "default_family")]
    pub family: String,
    /// The number of operations of each client.
    pub operations: Option<u64>,
    /// The same seed gives the same keys in each phase.
    pub seed: u64,
    pub keys: Choice,
    /// The keys of operations that write or delete. Without it, they have the keys of `keys`.
    pub write_keys: Option<Choice>,
    /// The kinds of operations with their weights.
    pub mix: BTreeMap<Operation, u32>,
    /// The largest number of records that a scan reads.
    #[serde(default = "ten")]
    pub scan_length: u64,
    /// Each n-th get of a client compares its value with the one that the driver writes. 0: no get
    /// does.
    #[serde(default = "thousand")]
    pub check_every: u64,
    /// Whether a get that finds nothing fails the plan.
    #[serde(default)]
    pub must_find: bool,
    /// Whether gets read keys that no record has.
    #[serde(default)]
    pub missing: bool,
    /// The number of keys of a multi-get.
    #[serde(default = "ten")]
    pub batch: u64,
    /// The limit of the bytes of keys and values that all clients together write per second.
    pub bytes_per_second: Option<u64>,
    /// The number of operations that all clients together begin per second.
    pub per_second: Option<f64>,
    /// Whether the blocks that the clients read are counted.
    #[serde(default)]
    pub count_blocks: bool,
    pub range_delete: Option<RangeDeletes>,
}

/// The family that each store has.
pub const DEFAULT_FAMILY: &str = "default";

pub fn default_family() -> String {
    DEFAULT_FAMILY.to_owned()
}

fn yes() -> bool {
    true
}

fn one() -> u64 {
    1
}

fn ten() -> u64 {
    10
}

fn thousand() -> u64 {
    1000
}

impl Plan {
    /// The phases with clients.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.phases.iter().filter_map(|phase| match phase {
            Phase::Run(run) => Some(run),
            _ => None,
        })
    }
}

impl Phase {
    /// The name of the phase in events.
    pub fn name(&self) -> &str {
        match self {
            Self::Run(run) => &run.name,
            Self::Flush {} => "flush",
            Self::Compact {} => "compact",
            Self::Settle { .. } => "settle",
            Self::Report {} => "report",
        }
    }

    /// The failure names the place in the phase.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Run(run) => run.check(),
            Self::Settle { quiet_s, limit_s } => {
                check_seconds("quiet_s", *quiet_s)?;
                check_seconds("limit_s", *limit_s)
            }
            Self::Flush {} | Self::Compact {} | Self::Report {} => Ok(()),
        }
    }
}

impl Run {
    /// The largest number that a key can have.
    pub fn last_key(&self) -> u64 {
        let bits = self.key_size.saturating_mul(8).min(64);
        u64::MAX >> (64 - bits)
    }

    fn check(&self) -> Result<(), String> {
        require(self.num >= 1, "num: must be at least 1")?;
        let sound = (1..=MOST_KEY_BYTES).contains(&self.key_size);
        require(sound, "key_size: must be from 1 to 65536")?;
        let fits = self.num - 1 <= self.last_key();
        require(fits, "num: a key of key_size bytes has fewer different values")?;
        let ratio = self.compression_ratio;
        require((0.0..=1.0).contains(&ratio), "compression_ratio: must be from 0 to 1")?;
        if let Some(seconds) = self.seconds {
            check_seconds("seconds", seconds)?;
        }
        require(self.sample_ms != Some(0), "sample_ms: must be at least 1")?;
        self.value_size.check()?;
        require(!self.groups.is_empty(), "groups: must not be empty")?;
        let written = !(self.sync && self.disable_wal);
        require(written, "sync: must be false with disable_wal")?;
        for (number, group) in self.groups.iter().enumerate() {
            group.check(self.num).map_err(|problem| format!("groups[{number}].{problem}"))?;
        }
        Ok(())
    }
}

impl Group {
    /// Whether the mix has operations of this kind.
    pub fn does(&self, kind: Operation) -> bool {
        self.mix.get(&kind).is_some_and(|&weight| weight > 0)
    }

    /// The kinds of operations that read blocks of tables.
    pub fn looks(&self) -> impl Iterator<Item = Operation> + '_ {
        self.mix.keys().copied().filter(|&kind| self.does(kind) && kind.looks())
    }

    /// The kind of an operation in events.
    pub fn told(&self, kind: Operation) -> Operation {
        match kind {
            Operation::Get if self.missing => Operation::GetMissing,
            _ => kind,
        }
    }

    fn check(&self, num: u64) -> Result<(), String> {
        require((1..=1024).contains(&self.clients), "clients: must be from 1 to 1024")?;
        let fits = self.operations.is_none_or(|operations| operations <= MOST_OPERATIONS);
        require(fits, "operations: must be at most 2^40")?;
        let weights: u64 = self.mix.values().map(|&weight| u64::from(weight)).sum();
        require(weights >= 1, "mix: must have a weight above 0")?;
        let mixed = !self.mix.contains_key(&Operation::RangeDelete);
        require(mixed, "mix.range_delete: use the field range_delete of the group")?;
        self.keys.check(num).map_err(|problem| format!("keys.{problem}"))?;
        if let Some(keys) = self.write_keys {
            keys.check_writes(self.keys, num).map_err(|problem| format!("write_keys{problem}"))?;
        }
        require((1..=MOST_BATCH).contains(&self.batch), "batch: must be from 1 to 65536")?;
        require(self.bytes_per_second != Some(0), "bytes_per_second: must be at least 1")?;
        if let Some(rate) = self.per_second {
            let sound = (SLOWEST..=FASTEST).contains(&rate);
            require(sound, "per_second: must be from 0.001 to 1e9")?;
            let only = self.bytes_per_second.is_none();
            require(only, "per_second: not allowed with bytes_per_second")?;
        }
        if self.count_blocks {
            let one = self.looks().count() == 1;
            require(one, "count_blocks: the mix must have one kind of operation that reads")?;
        }
        if self.missing {
            let gets = self.does(Operation::Get) || self.does(Operation::MultiGet);
            require(gets, "missing: the mix has no gets")?;
            require(!self.must_find, "missing: must be false with must_find")?;
        }
        if let Some(range_delete) = self.range_delete {
            range_delete.check().map_err(|problem| format!("range_delete.{problem}"))?;
            require(self.does(Operation::Put), "range_delete: the mix has no puts")?;
        }
        Ok(())
    }
}

fn check_seconds(place: &str, seconds: f64) -> Result<(), String> {
    // Long enough for each plan, and short enough for a clock.
    require((0.0..=1e9).contains(&seconds), &format!("{place}: must be from 0 to 1e9"))
}
