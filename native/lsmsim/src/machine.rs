//! The machine that the store runs on, as `lsmtune doctor --calibrate` measures it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::codec::Codec;

/// Seconds of one core that a byte takes.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct CodecSpeed {
    pub compress_s_per_byte: f64,
    pub decompress_s_per_byte: f64,
}

/// Constants of a machine; times are seconds of one core.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct Machine {
    pub cores: f64,
    /// A put into a memtable of 1,000 records, without its bytes in the WAL.
    pub put_s: f64,
    /// What a put takes more, and a flush for each record, when memtables are twice as large.
    pub memtable_s_per_doubling: f64,
    pub wal_s_per_byte: f64,
    /// What a flush takes before and behind its records, and each of those.
    pub flush_s: f64,
    pub flush_s_per_record: f64,
    pub compaction_s: f64,
    pub compaction_s_per_record: f64,
    /// Opening, closing and installing one more file.
    pub file_s: f64,
    /// Building, reading and writing tables, beside what a codec takes.
    pub read_s_per_byte: f64,
    pub write_s_per_byte: f64,
    /// Writing through the page cache's own pages takes more (`mmap_write`).
    pub mmap_write_s_per_byte: f64,
    /// Beginning and ending a block, when it is read and when it is written.
    pub block_s: f64,
    pub codecs: BTreeMap<Codec, CodecSpeed>,
    /// What the device moves, both ways together.
    pub device_bytes_per_s: f64,
}

impl Default for Machine {
    /// A virtual machine of two cores, as 80 runs of the screening that ships with lsmtune tell:
    /// a guess of any other until that is calibrated.
    fn default() -> Self {
        let speed = |compress: f64, decompress: f64| CodecSpeed {
            compress_s_per_byte: compress,
            decompress_s_per_byte: decompress,
        };
        Self {
            cores: 2.0,
            put_s: 3.68e-6,
            memtable_s_per_doubling: 0.065e-6,
            wal_s_per_byte: 0.9e-9,
            flush_s: 3.12e-3,
            flush_s_per_record: 1.54e-6,
            compaction_s: 1.20e-3,
            compaction_s_per_record: 0.395e-6,
            file_s: 1.60e-3,
            read_s_per_byte: 0.446e-9,
            write_s_per_byte: 0.538e-9,
            mmap_write_s_per_byte: 2.14e-9,
            block_s: 0.366e-6,
            codecs: BTreeMap::from([
                (Codec::Snappy, speed(0.79e-9, 0.32e-9)),
                (Codec::Lz4, speed(0.92e-9, 0.28e-9)),
                (Codec::Lz4hc, speed(1.2e-8, 0.28e-9)),
                (Codec::Zstd, speed(3.5e-9, 1.2e-9)),
                (Codec::Zlib, speed(14.6e-9, 2.65e-9)),
            ]),
            device_bytes_per_s: 1.2e9,
        }
    }
}

impl Machine {
    /// How much longer a record takes in a memtable of so many than in one of 1,000.
    pub fn memtable_s(&self, records: f64) -> f64 {
        self.memtable_s_per_doubling * (records / 1000.0).log2()
    }

    /// Seconds to write so many bytes of a table, beside what its codec takes.
    pub fn write_s(&self, bytes: f64, mapped: bool) -> f64 {
        let extra = if mapped { self.mmap_write_s_per_byte } else { 0.0 };
        bytes * (self.write_s_per_byte + extra)
    }

    /// Seconds to compress so many plain bytes.
    pub fn compress_s(&self, codec: Codec, bytes: f64) -> f64 {
        self.codecs.get(&codec).map_or(0.0, |speed| bytes * speed.compress_s_per_byte)
    }

    /// Seconds to get so many plain bytes back.
    pub fn decompress_s(&self, codec: Codec, bytes: f64) -> f64 {
        self.codecs.get(&codec).map_or(0.0, |speed| bytes * speed.decompress_s_per_byte)
    }
}
