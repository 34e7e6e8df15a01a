//! The block cache, which drops the least recently used blocks (cache/lru_cache.cc).

use lru::LruCache;

use crate::tree::FileId;

/// A block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Block {
    Data(FileId, u64),
    Index(FileId),
    Filter(FileId),
}

/// The smallest size of a shard, if the cache chooses it (`GetDefaultCacheShardBits`).
const LEAST_SHARD_BYTES: u64 = 512 << 10;
/// A cache chooses at most 64 shards.
const MOST_SHARD_BITS: u32 = 6;
/// The bytes of an entry in addition to its block: its handle, and the rounding of the allocator.
const ENTRY_BYTES: u64 = 150;

pub struct BlockCache {
    shards: Vec<Shard>,
    shard_bytes: u64,
}

struct Shard {
    blocks: LruCache<Block, u64>,
    bytes: u64,
}

impl BlockCache {
    /// Make a part of a cache of `bytes` bytes with 2^`shard_bits` shards. If `shard_bits` is below
    /// 0, the number of shards depends on `bytes`.
    pub fn new(bytes: u64, shard_bits: i64, part: f64) -> Self {
        let own = (bytes / LEAST_SHARD_BYTES).checked_ilog2().unwrap_or(0).min(MOST_SHARD_BITS);
        let shards = 1_u64 << u32::try_from(shard_bits).unwrap_or(own);
        let (shards, bytes) = ((shards as f64 * part).ceil() as u64, (bytes as f64 * part) as u64);
        Self {
            shards: (0..shards)
                .map(|_| Shard { blocks: LruCache::unbounded(), bytes: 0 })
                .collect(),
            shard_bytes: bytes / shards,
        }
    }

    /// Whether the cache has a block. This counts as a use of the block.
    pub fn has(&mut self, block: Block) -> bool {
        self.shard(block).blocks.get(&block).is_some()
    }

    /// Keep a block of `bytes` bytes. Return whether the shard was full, so that it dropped blocks.
    /// A block that is larger than its shard is dropped at once.
    pub fn insert(&mut self, block: Block, bytes: u64) -> bool {
        let most = self.shard_bytes;
        let shard = self.shard(block);
        let charge = bytes + ENTRY_BYTES;
        shard.bytes += charge - shard.blocks.put(block, charge).unwrap_or(0);
        let is_full = shard.bytes > most;
        while shard.bytes > most {
            let Some((_, freed)) = shard.blocks.pop_lru() else { break };
            shard.bytes -= freed;
        }
        is_full
    }

    fn shard(&mut self, block: Block) -> &mut Shard {
        let (file, number) = match block {
            Block::Data(file, number) => (file, number + 2),
            Block::Index(file) => (file, 0),
            Block::Filter(file) => (file, 1),
        };
        let mixed = (file as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03);
        let place = (mixed >> 40) as usize % self.shards.len();
        &mut self.shards[place]
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, BlockCache};

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut cache = BlockCache::new(10_000, 0, 1.0);
        for number in 0..3 {
            cache.insert(Block::Data(1, number), 3_000);
        }
        assert!(cache.has(Block::Data(1, 0)));
        cache.insert(Block::Data(1, 3), 3_000);
        assert!(cache.has(Block::Data(1, 0)) && !cache.has(Block::Data(1, 1)));
    }

    #[test]
    fn a_block_larger_than_its_shard_does_not_stay() {
        let mut cache = BlockCache::new(10_000, 0, 1.0);
        cache.insert(Block::Index(1), 20_000);
        assert!(!cache.has(Block::Index(1)));
    }
}
