//! Codecs: what they make of db_bench's values, and what they take for it.

use serde::{Deserialize, Serialize};

/// `compression_type` of db_bench.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    None,
    Snappy,
    Lz4,
    Lz4hc,
    Zstd,
    Zlib,
}

/// Printable characters of db_bench's random strings: a coder of entropies packs them this far.
const ENTROPY: f64 = 0.821;

/// A random piece is repeated until it fills so many bytes (`RandomGenerator` in
/// tools/db_bench_tool.cc).
const FILLED: f64 = 100.0;

/// So many bytes of a key, its trailer and its lengths are as in the record before.
const ALIKE: f64 = 5.7;

/// RocksDB keeps a block plain unless it shrinks by an eighth (`GoodCompressionRatio`).
const LEAST_GAIN: f64 = 1.0 / 8.0;

impl Codec {
    /// Compressed over plain bytes of a record in a block, beside what each block takes.
    ///
    /// db_bench fills each 100 bytes with repetitions of a random piece, and a value is so many
    /// bytes from there on: its first piece repeats nothing. What a codec makes of a piece and of
    /// what is repeated was measured at a ratio of 0.5, on values of 1,024 and of 128 bytes.
    pub fn ratio(self, record: f64, value: f64, compression_ratio: f64) -> f64 {
        let (piece, repetition) = match self {
            Self::None => return 1.0,
            Self::Snappy => (1.0, 0.099),
            Self::Lz4 | Self::Lz4hc => (1.0, 0.096),
            Self::Zstd => (ENTROPY, 0.028),
            Self::Zlib => (ENTROPY, 0.050),
        };
        let repeated = (1.0 - compression_ratio) * (value - compression_ratio * FILLED).max(0.0);
        let ratio = (piece * (record - repeated - ALIKE) + repetition * repeated) / record;
        if ratio > 1.0 - LEAST_GAIN {
            1.0
        } else {
            ratio
        }
    }

    /// What each block takes: type, checksum, restart points, the first key's whole front, and the
    /// codec's header and tables.
    pub fn block_bytes(self) -> f64 {
        match self {
            Self::None => 20.0,
            Self::Snappy | Self::Lz4 | Self::Lz4hc => 31.0,
            Self::Zstd => 137.0,
            Self::Zlib => 78.0,
        }
    }

    /// To begin a block takes as long as so many bytes more, compressing and getting them back.
    ///
    /// By `db_bench --benchmarks=compress,uncompress` with blocks of 1 to 16 KiB.
    pub fn bytes_of_begun(self) -> (f64, f64) {
        match self {
            Self::None => (0.0, 0.0),
            Self::Snappy => (80.0, 0.0),
            Self::Lz4 => (200.0, 0.0),
            Self::Lz4hc => (930.0, 0.0),
            Self::Zstd => (950.0, 2700.0),
            Self::Zlib => (550.0, 630.0),
        }
    }

    /// What a record takes less where nothing older can lie below: its sequence number is zero.
    pub fn zeroed_bytes(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Snappy | Self::Lz4 | Self::Lz4hc => 4.5,
            Self::Zstd => 6.5,
            Self::Zlib => 7.0,
        }
    }
}
