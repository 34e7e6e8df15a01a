//! Kinds of keys, of operations and of sizes that a plan may name.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The largest size of a value. Such a value fits into the memory of a small machine.
const LARGEST: usize = 1 << 30;
/// The largest distance of a normal size from the mean, in deviations, as in db_bench.
pub const DEVIATIONS: f64 = 3.0;

/// Kinds of keys.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Choice {
    /// All keys are equally likely.
    Uniform {},
    /// One key after the other. The clients of a group share the order.
    Sequential {},
    /// Each key once, in random order. The clients of a group share the order.
    Unique {},
    /// The probability of the n-th most frequent key is proportional to n to the power of
    /// `-exponent`.
    Zipfian { exponent: f64 },
    /// Key `num * exp(-r)` with r from 0 to `range`, as db_bench's `read_random_exp_range`.
    Exponential { range: f64 },
    /// The keys that the client has put last are the most likely, as in YCSB's "latest".
    Latest {},
    /// The share `hot_share` of the operations uses `ranges` ranges of keys, which contain the
    /// share `hot_keys` of all keys.
    HotRanges { ranges: u64, hot_share: f64, hot_keys: f64 },
}

/// A kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Put,
    Get,
    Delete,
    /// Read forward from a key.
    Scan,
    /// Read backward from a key.
    ScanBackward,
    /// Get a key, then put it.
    ReadModifyWrite,
    /// Get some keys in one call.
    MultiGet,
    SingleDelete,
    Merge,
    /// A client does it after some puts, so it is not in a mix.
    RangeDelete,
    /// A get of a group whose keys no record has. In a mix, it is a get.
    #[serde(skip_deserializing)]
    GetMissing,
}

/// Range deletes of a client: one after each `every` puts, at most `at_most` times.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangeDeletes {
    pub every: u64,
    /// The number of keys of a range.
    pub width: u64,
    pub at_most: u64,
}

/// Sizes of values, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sizes {
    Fixed(usize),
    Drawn(Drawn),
}

/// Sizes that differ from key to key.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Drawn {
    /// All sizes from `low` to `high` are equally likely.
    Uniform { low: u64, high: u64 },
    /// Most are near `mean`.
    Normal { mean: f64, deviation: f64 },
    /// The generalised Pareto distribution of db_bench's mixgraph: many small and few large sizes.
    Pareto {
        #[serde(default)]
        theta: f64,
        k: f64,
        sigma: f64,
        /// The largest size.
        high: u64,
    },
}

impl Choice {
    /// The failure names the field.
    pub fn check(self, num: u64) -> Result<(), String> {
        let positive = |number: f64| number.is_finite() && number > 0.0;
        match self {
            Self::Zipfian { exponent } => {
                require(positive(exponent), "exponent: must be above 0")?;
            }
            Self::Exponential { range } => require(positive(range), "range: must be above 0")?,
            Self::HotRanges { ranges, hot_share, hot_keys } => {
                // Each range, and each gap after a range, must have at least one key.
                require((1..=num / 2).contains(&ranges), "ranges: must be from 1 to num / 2")?;
                require((0.0..=1.0).contains(&hot_share), "hot_share: must be from 0 to 1")?;
                let sound = hot_keys > 0.0 && hot_keys < 1.0;
                require(sound, "hot_keys: must be between 0 and 1")?;
            }
            Self::Uniform {} | Self::Sequential {} | Self::Unique {} | Self::Latest {} => {}
        }
        Ok(())
    }

    /// Check keys of writes next to the keys of other operations. The failure begins with the
    /// field below this one, or with a colon.
    pub fn check_writes(self, others: Self, num: u64) -> Result<(), String> {
        self.check(num).map_err(|problem| format!(".{problem}"))?;
        // The kind `latest` counts on one sequence for puts and reads.
        let depends = [self, others].contains(&Self::Latest {});
        require(!depends, ": not allowed with keys of the kind latest")
    }
}

impl Operation {
    /// Whether it writes a value.
    pub fn writes(self) -> bool {
        matches!(self, Self::Put | Self::ReadModifyWrite | Self::Merge)
    }

    /// Whether it deletes one key.
    pub fn deletes(self) -> bool {
        matches!(self, Self::Delete | Self::SingleDelete)
    }

    /// Whether it reads blocks of tables.
    pub fn looks(self) -> bool {
        self.reads() || self == Self::ReadModifyWrite
    }

    /// Whether it only reads.
    pub fn reads(self) -> bool {
        matches!(self, Self::Get | Self::MultiGet | Self::Scan | Self::ScanBackward)
    }
}

impl RangeDeletes {
    pub fn check(self) -> Result<(), String> {
        require(self.every >= 1, "every: must be at least 1")?;
        require(self.width >= 1, "width: must be at least 1")
    }
}

impl Sizes {
    /// The failure names the field.
    pub fn check(self) -> Result<(), String> {
        if let Self::Drawn(drawn) = self {
            drawn.check().map_err(|problem| format!("value_size.{problem}"))?;
        }
        require(self.largest() <= LARGEST, "value_size: values must have at most 2^30 bytes")
    }

    /// The largest size that a value can have.
    pub fn largest(self) -> usize {
        match self {
            Self::Fixed(size) => size,
            Self::Drawn(drawn) => drawn.largest() as usize,
        }
    }
}

impl Drawn {
    fn check(self) -> Result<(), String> {
        match self {
            Self::Uniform { low, high } => require(low <= high, "low: must be at most high"),
            Self::Normal { mean, deviation } => {
                require(mean >= 0.0, "mean: must be at least 0")?;
                require(deviation >= 0.0, "deviation: must be at least 0")
            }
            Self::Pareto { theta, k, sigma, high } => {
                require(theta >= 0.0, "theta: must be at least 0")?;
                require(k >= 0.0, "k: must be at least 0")?;
                require(sigma >= 0.0, "sigma: must be at least 0")?;
                require(high >= 10, "high: must be at least 10")
            }
        }
    }

    fn largest(self) -> f64 {
        match self {
            Self::Uniform { high, .. } | Self::Pareto { high, .. } => high as f64,
            Self::Normal { mean, deviation } => mean + DEVIATIONS * deviation,
        }
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        given.deserialize_any(SizesVisitor)
    }
}

/// Reads a number or an object. The error of a derived reader would not name the wrong field.
struct SizesVisitor;

impl<'de> Visitor<'de> for SizesVisitor {
    type Value = Sizes;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a number of bytes, or an object with the kind of distribution")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Sizes, E> {
        Ok(Sizes::Fixed(number as usize))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Sizes, A::Error> {
        Drawn::deserialize(MapAccessDeserializer::new(fields)).map(Sizes::Drawn)
    }
}

/// Return the problem unless something is sound.
pub fn require(sound: bool, problem: &str) -> Result<(), String> {
    if sound {
        Ok(())
    } else {
        Err(problem.to_owned())
    }
}
