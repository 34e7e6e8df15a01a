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

/// RocksDB keeps a block plain unless it shrinks by an eighth (`GoodCompressionRatio`).
const LEAST_GAIN: f64 = 1.0 / 8.0;

impl Codec {
    /// Compressed over plain bytes of records whose values db_bench made with `compression_ratio`,
    /// beside what each block takes.
    ///
    /// db_bench repeats a random piece of each 100 bytes until they are full. What a codec makes
    /// of the piece, and what a repetition costs, was measured at a ratio of 0.5, on files of
    /// values of 1,024 bytes.
    pub fn ratio(self, compression_ratio: f64) -> f64 {
        let (piece, repeated) = match self {
            Self::None => return 1.0,
            Self::Snappy => (1.0, 0.149),
            Self::Lz4 | Self::Lz4hc => (1.0, 0.146),
            Self::Zstd => (ENTROPY, 0.073),
            Self::Zlib => (ENTROPY, 0.093),
        };
        let ratio = piece * compression_ratio + repeated * (1.0 - compression_ratio);
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
