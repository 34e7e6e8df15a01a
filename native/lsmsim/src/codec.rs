//! Codecs: how far they compress db_bench's values, and the time that they take.

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

/// The size to which an entropy coder compresses the printable characters of db_bench's random
/// strings.
const ENTROPY: f64 = 0.821;

/// db_bench repeats a random piece until it fills this number of bytes (`RandomGenerator` in
/// tools/db_bench_tool.cc).
const FILLED: f64 = 100.0;

/// The bytes of a key, its trailer and its lengths that are the same as in the record before.
const ALIKE: f64 = 5.7;

/// RocksDB stores a block without compression unless it shrinks by an eighth
/// (`GoodCompressionRatio`).
const LEAST_GAIN: f64 = 1.0 / 8.0;

impl Codec {
    /// Compressed bytes of a record in a block, divided by its plain bytes. `block_bytes` come on
    /// top.
    ///
    /// db_bench fills each 100 bytes with repetitions of a random piece. A value is a part of that
    /// text, so its first piece repeats nothing. The ratios of pieces and of repetitions were
    /// measured at a compression ratio of 0.5, with values of 1,024 and of 128 bytes.
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

    /// The additional bytes of a block: type, checksum, restart points, the whole start of the
    /// first key, and the header and tables of the codec.
    pub fn block_bytes(self) -> f64 {
        match self {
            Self::None => 20.0,
            Self::Snappy | Self::Lz4 | Self::Lz4hc => 31.0,
            Self::Zstd => 137.0,
            Self::Zlib => 78.0,
        }
    }

    /// The time to begin a block, as the number of bytes that take this time: for compressing and
    /// for decompressing.
    ///
    /// Measured by `db_bench --benchmarks=compress,uncompress` with blocks of 1 to 16 KiB.
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

    /// The bytes that a record saves if no older record can be below it. Its sequence number is
    /// then zero.
    pub fn zeroed_bytes(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Snappy | Self::Lz4 | Self::Lz4hc => 4.5,
            Self::Zstd => 6.5,
            Self::Zlib => 7.0,
        }
    }
}
