//! The blocks that clients read, by RocksDB's counts for their threads (perf context).

use serde::Serialize;

/// Blocks that were read from a file or found in the block cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Blocks {
    pub data: u64,
    pub index: u64,
    pub filter: u64,
}

impl Blocks {
    /// Read the text of `rocksdb_perfcontext_report`: `name = number, name = number, `. It may lack
    /// counts of zero.
    pub fn read(text: &str) -> Self {
        let count = |name: &str| {
            let mut pairs = text.split(", ").filter_map(|pair| pair.trim().split_once(" = "));
            let number = pairs.find(|&(key, _)| key == name).map(|(_, number)| number.parse());
            number.and_then(Result::ok).unwrap_or(0)
        };
        let index = count("block_cache_index_hit_count") + count("index_block_read_count");
        let filter = count("block_cache_filter_hit_count") + count("filter_block_read_count");
        let all = count("block_cache_hit_count") + count("block_read_count");
        let other = index + filter + count("compression_dict_block_read_count");
        Self { data: u64::saturating_sub(all, other), index, filter }
    }

    pub fn add(&mut self, other: Self) {
        self.data += other.data;
        self.index += other.index;
        self.filter += other.filter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_data_are_all_that_are_not_of_another_kind() {
        let text = "user_key_comparison_count = 9, block_cache_hit_count = 100, \
                    block_read_count = 20, block_read_byte = 81920, \
                    block_cache_index_hit_count = 30, index_block_read_count = 4, \
                    block_cache_filter_hit_count = 20, compression_dict_block_read_count = 1, ";
        let mut blocks = Blocks::read(text);
        assert_eq!(blocks, Blocks { data: 65, index: 34, filter: 20 });
        blocks.add(Blocks::read("block_read_count = 2"));
        assert_eq!(blocks, Blocks { data: 67, index: 34, filter: 20 });
        assert_eq!(Blocks::read(""), Blocks::default());
    }
}
