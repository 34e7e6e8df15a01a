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
    /// Compressed over plain bytes of a block whose values db_bench made with `compression_ratio`.
    ///
    /// db_bench repeats a random piece of each 100 bytes until they are full. What a codec makes
    /// of the piece, and what a repetition costs, was measured at a ratio of 0.5.
    pub fn ratio(self, compression_ratio: f64) -> f64 {
        let (piece, repeated) = match self {
            Self::None => return 1.0,
            Self::Snappy => (1.0, 0.144),
            Self::Lz4 | Self::Lz4hc => (1.0, 0.128),
            Self::Zstd => (ENTROPY, 0.073),
            Self::Zlib => (ENTROPY, 0.099),
        };
        let ratio = piece * compression_ratio + repeated * (1.0 - compression_ratio);
        if ratio > 1.0 - LEAST_GAIN {
            1.0
        } else {
            ratio
        }
    }
}
