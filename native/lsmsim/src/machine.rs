//! The machine that the store runs on, as `lsmtune doctor --calibrate` measures it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::codec::Codec;

/// Seconds of one core per byte.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct CodecSpeed {
    pub compress_s_per_byte: f64,
    pub decompress_s_per_byte: f64,
}

/// Constants of a machine. Times are seconds of CPU.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct Machine {
    pub cores: f64,
    /// Seconds of CPU that a core has per second. In the rest, it waits for pages, or other virtual
    /// machines use it. The default is 1.
    #[serde(default = "all")]
    pub cpu_share: f64,
    /// A put into a memtable of 1,000 records, without its bytes in the WAL.
    pub put_s: f64,
    /// Additional time of a put, and of each record of a flush, if memtables are twice as large.
    pub memtable_s_per_doubling: f64,
    pub wal_s_per_byte: f64,
    /// A flush without its records; each of its records.
    pub flush_s: f64,
    pub flush_s_per_record: f64,
    pub compaction_s: f64,
    pub compaction_s_per_record: f64,
    /// Opening, closing and installing one more file.
    pub file_s: f64,
    /// Building, reading and writing tables, without the time of the codec.
    pub read_s_per_byte: f64,
    pub write_s_per_byte: f64,
    /// Additional time to write through mapped pages (`mmap_write`).
    pub mmap_write_s_per_byte: f64,
    /// Beginning and ending a block, when it is read and when it is written.
    pub block_s: f64,
    /// A get and a scan, without the parts below; each record that a scan reads.
    pub get_s: f64,
    pub scan_s: f64,
    pub next_s: f64,
    /// Checking one more file for a key; its filter; its index.
    pub table_s: f64,
    pub filter_s: f64,
    pub index_s: f64,
    /// Seeking in one more sorted run.
    pub run_s: f64,
    /// A block from the block cache, from the page cache, and from a mapped file (`mmap_read`).
    pub cached_s: f64,
    pub fetch_s: f64,
    pub map_s: f64,
    pub fetch_s_per_byte: f64,
    /// Memory that the block cache uses for the first time.
    pub fresh_s_per_byte: f64,
    /// Opening a file at its first read, without its index and filter.
    pub open_s: f64,
    /// How much reads of the same blocks vary, as a logarithm.
    pub read_jitter: f64,
    /// Pauses in which other work runs: how many per second, and how long each is.
    pub pauses_per_s: f64,
    pub pause_s: f64,
    pub codecs: BTreeMap<Codec, CodecSpeed>,
    /// Bytes that the device reads and writes per second, together.
    pub device_bytes_per_s: f64,
}

fn all() -> f64 {
    1.0
}

impl Default for Machine {
    /// A virtual machine with two cores, calibrated with 80 runs of the screening that ships with
    /// lsmtune. For any other machine, these constants are a guess until it is calibrated.
    fn default() -> Self {
        let speed = |compress: f64, decompress: f64| CodecSpeed {
            compress_s_per_byte: compress,
            decompress_s_per_byte: decompress,
        };
        Self {
            cores: 2.0,
            cpu_share: 0.85,
            put_s: 3.68e-6,
            memtable_s_per_doubling: 0.065e-6,
            wal_s_per_byte: 0.9e-9,
            flush_s: 3.12e-3,
            flush_s_per_record: 1.54e-6,
            compaction_s: 1.20e-3,
            compaction_s_per_record: 0.395e-6,
            file_s: 1.60e-3,
            read_s_per_byte: 0.446e-9,
            write_s_per_byte: 0.576e-9,
            mmap_write_s_per_byte: 2.14e-9,
            block_s: 0.366e-6,
            get_s: 0.892e-6,
            scan_s: 1.35e-6,
            next_s: 0.836e-6,
            table_s: 0.0109e-6,
            filter_s: 0.0311e-6,
            index_s: 1.66e-6,
            run_s: 0.297e-6,
            cached_s: 0.103e-6,
            fetch_s: 2.43e-6,
            map_s: 0.254e-6,
            fetch_s_per_byte: 0.139e-9,
            fresh_s_per_byte: 0.351e-9,
            open_s: 36.6e-6,
            read_jitter: 0.30,
            pauses_per_s: 1565.0,
            pause_s: 16.1e-6,
            codecs: BTreeMap::from([
                (Codec::Snappy, speed(0.78e-9, 0.32e-9)),
                (Codec::Lz4, speed(0.89e-9, 0.28e-9)),
                // 0.55 and 0.26 of zlib's time, by `db_bench --benchmarks=compress,uncompress`.
                (Codec::Lz4hc, speed(6.9e-9, 0.28e-9)),
                (Codec::Zstd, speed(3.3e-9, 0.92e-9)),
                (Codec::Zlib, speed(12.6e-9, 3.33e-9)),
            ]),
            device_bytes_per_s: 1.2e9,
        }
    }
}

impl Machine {
    /// The additional time of a record in a memtable of `records` records instead of 1,000.
    pub fn memtable_s(&self, records: f64) -> f64 {
        self.memtable_s_per_doubling * (records / 1000.0).log2()
    }

    /// Seconds to write bytes of a table, without the time of the codec.
    pub fn write_s(&self, bytes: f64, mapped: bool) -> f64 {
        let extra = if mapped { self.mmap_write_s_per_byte } else { 0.0 };
        bytes * (self.write_s_per_byte + extra)
    }

    /// Seconds to compress plain bytes to blocks.
    pub fn compress_s(&self, codec: Codec, bytes: f64, blocks: f64) -> f64 {
        let all = bytes + blocks * codec.bytes_of_begun().0;
        self.codecs.get(&codec).map_or(0.0, |speed| all * speed.compress_s_per_byte)
    }

    /// Seconds to decompress blocks to plain bytes.
    pub fn decompress_s(&self, codec: Codec, bytes: f64, blocks: f64) -> f64 {
        let all = bytes + blocks * codec.bytes_of_begun().1;
        self.codecs.get(&codec).map_or(0.0, |speed| all * speed.decompress_s_per_byte)
    }
}
