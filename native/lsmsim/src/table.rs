//! How many bytes records come to: in a write batch, a memtable, a table file.

use crate::codec::Codec;
use crate::load::Load;
use crate::options::Options;

/// Sequence number and type of a record, behind its key.
const TRAILER: f64 = 8.0;
/// Shared, own and value length of a record in a block (table/block_based/block_builder.cc).
const LENGTHS: f64 = 4.0;
/// Bytes of a key that records of a block share but for restarts: db_bench's keys are big-endian
/// numbers of eight bytes, and neighbours differ in the last two or three.
const SHARED: f64 = 7.0;
/// Beside the key an entry of the index has the place of its block.
const HANDLE: f64 = 3.0;
/// Properties, metaindex and footer of a file.
const FILE: f64 = 1300.0;
/// Header, type and lengths around the one put of a batch (db/write_batch.cc).
const BATCH: f64 = 12.0 + 1.0 + 3.0;
/// A node of the skip list beside its record: the tower of pointers, lengths and alignment
/// (memtable/inlineskiplist.h).
const NODE: f64 = 23.0;
/// Blocks of the arena are whole pages (`OptimizeBlockSize` in memory/arena.cc).
const PAGE: f64 = 4096.0;

/// The bytes of one load's records.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// A batch of one put: what RocksDB counts as written by the user, and has in its WAL.
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

    /// Plain bytes of so many records in blocks.
    pub fn plain(&self, records: f64) -> f64 {
        records * self.in_block
    }

    /// How many blocks so many records fill: one is closed by the record that reaches its size.
    pub fn blocks(&self, records: f64) -> f64 {
        (records / self.records_per_block()).ceil()
    }

    pub fn records_per_block(&self) -> f64 {
        (self.block_size / self.in_block).ceil().max(1.0)
    }

    /// What a codec makes of so many plain bytes.
    pub fn stored(&self, plain: f64, codec: Codec) -> f64 {
        plain * codec.ratio(self.in_block, self.value, self.compression_ratio)
    }

    /// The bytes of the index of so many records.
    pub fn index(&self, records: f64) -> f64 {
        self.blocks(records) * (self.key + HANDLE)
    }

    /// The bytes of the filter of so many records.
    pub fn filter(&self, records: f64) -> f64 {
        records * self.filter
    }

    /// The bytes of a file of so many records; `filtered` where it has a filter, `zeroed` where
    /// nothing older can lie below.
    pub fn file(&self, records: f64, codec: Codec, filtered: bool, zeroed: bool) -> f64 {
        self.stored(self.plain(records), codec) + self.blocks(records) * codec.block_bytes()
            - if zeroed { records * codec.zeroed_bytes() } else { 0.0 }
            + self.index(records)
            + if filtered { self.filter(records) } else { 0.0 }
            + FILE
    }

    /// How many records a memtable takes until it is full (`ShouldFlushNow` in db/memtable.cc).
    ///
    /// The arena grows by blocks of an eighth of the buffer, 1 MiB at most; the last one is filled
    /// to three quarters. What is too little for another record at the end of a block is lost.
    pub fn records_per_memtable(&self, write_buffer_size: u64) -> f64 {
        let buffer = write_buffer_size as f64;
        let block = ((buffer / 8.0).min((1 << 20) as f64) / PAGE).ceil() * PAGE;
        let blocks = ((buffer + 0.6 * block) / block).floor();
        let filled = (block - self.memtable / 2.0).max(0.0);
        ((blocks - 0.25) * filled / self.memtable).floor().max(1.0)
    }
}
