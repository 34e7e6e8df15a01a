//! Bytes of records in a write batch, a memtable and a table file.

use crate::codec::Codec;
use crate::load::Load;
use crate::options::Options;

/// Sequence number and type of a record, after its key.
const TRAILER: f64 = 8.0;
/// Shared, own and value length of a record in a block (table/block_based/block_builder.cc).
const LENGTHS: f64 = 4.0;
/// Bytes of a key that are the same as in the record before, except after a restart point.
/// db_bench's keys are big-endian numbers of eight bytes, and neighbours differ in the last two or
/// three.
const SHARED: f64 = 7.0;
/// Bytes of the place of a block in an entry of the index, which also has the key.
const HANDLE: f64 = 3.0;
/// Properties, metaindex and footer of a file.
const FILE: f64 = 1300.0;
/// Header, type and lengths around the one put of a batch (db/write_batch.cc).
const BATCH: f64 = 12.0 + 1.0 + 3.0;
/// Bytes of a node of the skip list in addition to its record: pointers, lengths and alignment
/// (memtable/inlineskiplist.h).
const NODE: f64 = 23.0;
/// Blocks of the arena are whole pages (`OptimizeBlockSize` in memory/arena.cc).
const PAGE: f64 = 4096.0;

/// The bytes of the records of a load.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// A batch with one put, as in the WAL. RocksDB counts these as the bytes that the user wrote.
    pub batch: f64,
    pub memtable: f64,
    in_block: f64,
    key: f64,
    value: f64,
    block_size: f64,
    filter: f64,
    compression_ratio: f64,
}

impl Sizes {
    pub fn new(load: &Load, options: &Options) -> Self {
        let (key, value) = (load.key_size as f64, load.value_size as f64);
        Self {
            batch: key + value + BATCH,
            memtable: key + TRAILER + value + NODE,
            in_block: key + TRAILER + value + LENGTHS - SHARED.min(key),
            key,
            value,
            block_size: options.block_size as f64,
            filter: if options.bloom_bits > 0.0 { options.bloom_bits / 8.0 } else { 0.0 },
            compression_ratio: load.compression_ratio,
        }
    }

    /// Plain bytes of records in blocks.
    pub fn plain(&self, records: f64) -> f64 {
        records * self.in_block
    }

    /// The number of blocks of records. The record that reaches the size of a block closes it.
    pub fn blocks(&self, records: f64) -> f64 {
        (records / self.records_per_block()).ceil()
    }

    pub fn records_per_block(&self) -> f64 {
        (self.block_size / self.in_block).ceil().max(1.0)
    }

    /// The bytes to which a codec compresses plain bytes.
    pub fn stored(&self, plain: f64, codec: Codec) -> f64 {
        plain * codec.ratio(self.in_block, self.value, self.compression_ratio)
    }

    /// The bytes of the index of a file with this number of records.
    pub fn index(&self, records: f64) -> f64 {
        self.blocks(records) * (self.key + HANDLE)
    }

    /// The bytes of the filter of a file with this number of records.
    pub fn filter(&self, records: f64) -> f64 {
        records * self.filter
    }

    /// The bytes of a file with this number of records. `filtered`: the file has a filter.
    /// `zeroed`: no older records can be below it.
    pub fn file(&self, records: f64, codec: Codec, filtered: bool, zeroed: bool) -> f64 {
        self.stored(self.plain(records), codec) + self.blocks(records) * codec.block_bytes()
            - if zeroed { records * codec.zeroed_bytes() } else { 0.0 }
            + self.index(records)
            + if filtered { self.filter(records) } else { 0.0 }
            + FILE
    }

    /// The number of records of a full memtable (`ShouldFlushNow` in db/memtable.cc).
    ///
    /// The arena grows by blocks of an eighth of the buffer, at most 1 MiB. The last block is
    /// filled to three quarters. A rest of a block that is too small for a record is lost.
    pub fn records_per_memtable(&self, write_buffer_size: u64) -> f64 {
        let buffer = write_buffer_size as f64;
        let block = ((buffer / 8.0).min((1 << 20) as f64) / PAGE).ceil() * PAGE;
        let blocks = ((buffer + 0.6 * block) / block).floor();
        let filled = (block - self.memtable / 2.0).max(0.0);
        ((blocks - 0.25) * filled / self.memtable).floor().max(1.0)
    }
}
