//! Reads after the load on the settled tree: gets that hit, gets that miss, short scans.
//!
//! These are db_bench's `readrandom`, `readmissing` and `seekrandom`, one after the other in a
//! process whose block cache is empty at first. Each read checks the same files as RocksDB
//! (`Version::Get`, `LevelIterator`). Its time is the sum of the times of its blocks. Blocks that
//! are not in the block cache are in the page cache.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde::Deserialize;

use crate::cache::{Block, BlockCache};
use crate::codec::Codec;
use crate::cost::Costs;
use crate::histogram::Histogram;
use crate::jitter::jitter;
use crate::load::{Load, RandomKeys};
use crate::options::Options;
use crate::tree::{File, FileId, Tree};

/// The number of reads of each kind, and the number of records that a scan reads.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Probe {
    pub reads: u64,
    pub scan_length: u64,
}

/// The largest number of reads of a kind that are simulated. With more reads, only those of a part
/// of the keys are simulated, with the same part of the cache, so that the hit rates are the same.
const MOST_FOLLOWED: u64 = 3000;
/// No part of skewed keys is like the whole, because a few keys get most reads.
const MOST_SKEWED: u64 = 30_000;
/// The number of files that are opened with the store, if not all files are (`LoadTableHandlers`).
const OPENED_FIRST: f64 = 16.0;
/// A filter with n bits per key lets through this share to the power of n of the missing keys.
const BLOOM_BASE: f64 = 0.6185;
const MICROS: f64 = 1e6;

/// Latencies and cache hits of the reads, by the names of lsmtune's metrics.
pub fn probed(
    probe: Probe,
    load: &Load,
    tree: &Tree,
    options: &Options,
    costs: &Costs,
    seed: u64,
) -> BTreeMap<String, f64> {
    let runs = Runs::of(tree);
    let (reads, part) = if load.write_skew.is_some() {
        (probe.reads.min(MOST_SKEWED), 1.0)
    } else {
        let reads = probe.reads.min(MOST_FOLLOWED);
        (reads, reads as f64 / probe.reads.max(1) as f64)
    };
    let mut reader = Reader::new(&runs, options, costs, part, seed);
    // With the same seed, these are the keys that the load wrote first.
    let mut keys = RandomKeys::new(load.write_skew, costs.sample, seed);
    let last = (part * f64::from(costs.sample.keys)).ceil() as u32;
    let mut key = || loop {
        let drawn = keys.draw();
        if drawn < last {
            return drawn;
        }
    };
    let mut metrics = BTreeMap::new();
    let mut add = |name: &str, mut read: Box<dyn FnMut() -> u64 + '_>| {
        let mut latencies = Histogram::new();
        (0..reads).for_each(|_| latencies.add(read()));
        metrics.insert(format!("{name}_mean_us"), latencies.mean());
        for (what, share) in [("p50", 0.5), ("p75", 0.75), ("p99", 0.99)] {
            metrics.insert(format!("{name}_{what}_us"), latencies.percentile(share));
        }
    };
    add("get", Box::new(|| reader.timed(|reader| reader.get(key(), true))));
    add("get_missing", Box::new(|| reader.timed(|reader| reader.get(key(), false))));
    add("scan", Box::new(|| reader.timed(|reader| reader.scan(key(), probe.scan_length as f64))));
    metrics.extend(reader.blocks.metrics(3 * reads, options.cache_size > 0));
    metrics
}

/// Counts of blocks of each kind: found in the cache or not.
#[derive(Default)]
struct Counts {
    found: [u64; 3],
    missed: [u64; 3],
    /// Files that a get skipped because of their filter.
    filtered: u64,
}

impl Counts {
    /// Without a block cache, there are no hit rates.
    fn metrics(&self, reads: u64, has_cache: bool) -> BTreeMap<String, f64> {
        let reads = reads.max(1) as f64;
        let missed = self.missed.iter().sum::<u64>() as f64;
        let mut metrics = BTreeMap::from([
            ("read_amp".to_owned(), missed / reads),
            ("bloom_useful".to_owned(), self.filtered as f64 / reads),
        ]);
        for (kind, name) in ["data", "index", "filter"].iter().enumerate() {
            let all = self.found[kind] + self.missed[kind];
            if has_cache && all > 0 {
                metrics.insert(format!("cache_hit_{name}"), self.found[kind] as f64 / all as f64);
            }
        }
        metrics
    }
}

/// The sorted runs of a tree: each file of level 0, and each other level that has files.
struct Runs<'a> {
    tree: &'a Tree,
    /// These levels, with the largest key of each file in one list, which is fast to search.
    below: Vec<(usize, Vec<u32>)>,
}

impl<'a> Runs<'a> {
    fn of(tree: &'a Tree) -> Self {
        let filled = (1..tree.levels.len()).filter(|&level| !tree.levels[level].is_empty());
        let largest =
            |level: usize| tree.levels[level].iter().map(|&id| tree.file(id).largest()).collect();
        Self { tree, below: filled.map(|level| (level, largest(level))).collect() }
    }

    /// The file of each run that could have the key, or else the next file. None after the last.
    fn files_for(&self, key: u32) -> impl Iterator<Item = Option<FileId>> + '_ {
        let level0 = self.tree.levels[0].iter().map(|&id| Some(id));
        let below = self.below.iter().map(move |(level, largest)| {
            let place = largest.partition_point(|&largest| largest < key);
            self.tree.levels[*level].get(place).copied()
        });
        level0.chain(below)
    }
}

/// The data blocks that a get looks up in the mean over keys that exist, and over keys next to them
/// that do not exist.
pub fn data_blocks(tree: &Tree, options: &Options, keys: &[u32]) -> (f64, f64) {
    let runs = Runs::of(tree);
    let let_through = BLOOM_BASE.powf(options.bloom_bits);
    let (mut found, mut missing) = (0.0, 0.0);
    for &key in keys {
        let mut is_found = false;
        for id in runs.files_for(key).flatten() {
            let file = tree.file(id);
            if !(file.smallest()..=file.largest()).contains(&key) {
                continue;
            }
            let passes = if file.is_filtered { let_through } else { 1.0 };
            missing += passes;
            if !is_found {
                is_found = file.has(key);
                found += if is_found { 1.0 } else { passes };
            }
        }
    }
    (found / keys.len() as f64, missing / keys.len() as f64)
}

struct Reader<'a> {
    runs: &'a Runs<'a>,
    options: &'a Options,
    costs: &'a Costs,
    cache: BlockCache,
    is_open: Vec<bool>,
    rng: Rng,
    blocks: Counts,
    let_through: f64,
}

impl<'a> Reader<'a> {
    fn new(runs: &'a Runs, options: &'a Options, costs: &'a Costs, part: f64, seed: u64) -> Self {
        let mut reader = Self {
            runs,
            options,
            costs,
            cache: BlockCache::new(options.cache_size, options.cache_numshardbits, part),
            is_open: vec![false; runs.tree.files()],
            rng: Rng::with_seed(!seed),
            blocks: Counts::default(),
            let_through: BLOOM_BASE.powf(options.bloom_bits),
        };
        let some = (OPENED_FIRST * part) as usize;
        let first = if options.open_files < 0 { usize::MAX } else { some };
        for id in runs.tree.levels.iter().flatten().take(first) {
            reader.open(*id);
        }
        reader
    }

    /// The time of a read in whole microseconds, as db_bench's clock measures it.
    fn timed(&mut self, read: impl FnOnce(&mut Self) -> f64) -> u64 {
        let exact_s = read(self);
        let machine = &self.costs.machine;
        let mut took_s = exact_s * jitter(&mut self.rng, machine.read_jitter);
        if self.rng.f64() < machine.pauses_per_s * took_s {
            took_s += machine.pause_s;
        }
        (took_s * MICROS + self.rng.f64()) as u64
    }

    fn get(&mut self, key: u32, is_there: bool) -> f64 {
        let (runs, costs) = (self.runs, self.costs);
        let machine = &costs.machine;
        let mut took_s = machine.get_s;
        for id in runs.files_for(key).flatten() {
            let file = runs.tree.file(id);
            if !(file.smallest()..=file.largest()).contains(&key) {
                continue;
            }
            let has = is_there && file.has(key);
            took_s += machine.table_s + self.open(id);
            if file.is_filtered {
                took_s += machine.filter_s + self.metadata(Block::Filter(id));
                if !has && self.rng.f64() >= self.let_through {
                    self.blocks.filtered += 1;
                    continue;
                }
            }
            took_s += machine.index_s + self.metadata(Block::Index(id));
            let record = self.drawn_at(file.place_of(key));
            took_s += self.data(id, self.block_of(record));
            if has {
                break;
            }
        }
        took_s
    }

    /// Seek in each sorted run, then read `length` records.
    fn scan(&mut self, key: u32, length: f64) -> f64 {
        let (runs, costs) = (self.runs, self.costs);
        let machine = &costs.machine;
        let mut took_s = machine.scan_s + length * machine.next_s;
        let mut absent = 1.0;
        for id in runs.files_for(key).flatten().filter(|&id| key <= runs.tree.file(id).largest()) {
            absent *= 1.0 - runs.tree.file(id).density();
        }
        for id in runs.files_for(key) {
            took_s += machine.run_s;
            let Some(id) = id else { continue };
            let file = runs.tree.file(id);
            took_s += self.open(id) + self.metadata(Block::Index(id));
            if key > file.largest() {
                continue;
            }
            let first = self.drawn_at(file.place_of(key));
            let passed = length * file.density() / (1.0 - absent);
            let last = (first + self.rng.f64() + passed).min(costs.records(file) - 1.0);
            for block in self.block_of(first)..=self.block_of(last.max(first)) {
                took_s += self.data(id, block);
            }
        }
        took_s
    }

    /// Draw one of the records of a file that the record of the sample at this place represents.
    fn drawn_at(&mut self, place: usize) -> f64 {
        ((place as f64 + self.rng.f64()) * self.costs.sample.every as f64).floor()
    }

    fn block_of(&self, record: f64) -> u64 {
        (record / self.costs.sizes.records_per_block()) as u64
    }

    /// Seconds to open a file; 0 if it is open.
    fn open(&mut self, id: FileId) -> f64 {
        if std::mem::replace(&mut self.is_open[id], true) {
            return 0.0;
        }
        let file = self.runs.tree.file(id);
        let mut took_s = self.costs.machine.open_s;
        if file.is_filtered {
            took_s += self.opened(Block::Filter(id));
        }
        took_s + self.opened(Block::Index(id))
    }

    fn opened(&mut self, block: Block) -> f64 {
        if self.options.cache_index_and_filter_blocks {
            self.looked_up(block)
        } else {
            self.fetched_s(block)
        }
    }

    /// Seconds to get an index or a filter of an open file.
    fn metadata(&mut self, block: Block) -> f64 {
        if !self.options.cache_index_and_filter_blocks {
            return 0.0;
        }
        self.looked_up(block)
    }

    fn data(&mut self, id: FileId, block: u64) -> f64 {
        self.looked_up(Block::Data(id, block))
    }

    /// Seconds to get a block from the cache, or else from its file.
    fn looked_up(&mut self, block: Block) -> f64 {
        let kind = match block {
            Block::Data(..) => 0,
            Block::Index(_) => 1,
            Block::Filter(_) => 2,
        };
        if self.cache.has(block) {
            self.blocks.found[kind] += 1;
            return self.costs.machine.cached_s;
        }
        self.blocks.missed[kind] += 1;
        let took_s = self.fetched_s(block);
        // Plain blocks of a mapped file are not copied into the cache.
        if self.options.mmap_read && self.codec(block) == Codec::None {
            return took_s;
        }
        let plain = self.bytes(block);
        let is_full = self.cache.insert(block, plain as u64);
        took_s + if is_full { 0.0 } else { plain * self.costs.machine.fresh_s_per_byte }
    }

    fn fetched_s(&self, block: Block) -> f64 {
        let (machine, codec, plain) = (&self.costs.machine, self.codec(block), self.bytes(block));
        let stored = self.costs.sizes.stored(plain, codec);
        let begun_s = if self.options.mmap_read { machine.map_s } else { machine.fetch_s };
        begun_s + stored * machine.fetch_s_per_byte + machine.decompress_s(codec, plain, 1.0)
    }

    /// The codec of a block. Filters are never compressed.
    fn codec(&self, block: Block) -> Codec {
        match block {
            Block::Data(id, _) | Block::Index(id) => self.runs.tree.file(id).codec,
            Block::Filter(_) => Codec::None,
        }
    }

    /// Plain bytes of a block.
    fn bytes(&self, block: Block) -> f64 {
        let sizes = &self.costs.sizes;
        let records = |id: FileId| self.costs.records(self.runs.tree.file(id));
        match block {
            Block::Data(..) => sizes.plain(sizes.records_per_block()),
            Block::Index(id) => sizes.index(records(id)),
            Block::Filter(id) => sizes.filter(records(id)),
        }
    }
}

impl File {
    pub fn has(&self, key: u32) -> bool {
        self.records.get(self.place_of(key)).is_some_and(|found| found.key() == key)
    }

    /// The place of the key, or else of the next key. The search starts where the key would be if
    /// keys were spread evenly, as most are.
    fn place_of(&self, key: u32) -> usize {
        let (first, last, count) = (self.smallest(), self.largest(), self.records.len());
        if key <= first || key > last {
            return if key <= first { 0 } else { count };
        }
        let is_before = |place: usize| self.records[place].key() < key;
        let guess =
            (u64::from(key - first) * (count - 1) as u64 / u64::from(last - first)) as usize;
        let (mut from, mut to, mut step) = (guess, guess + 1, 8);
        while !is_before(from) {
            (from, step) = (from.saturating_sub(step), 2 * step);
        }
        while to < count && is_before(to) {
            (to, step) = (to + step, 2 * step);
        }
        let to = to.min(count);
        from + self.records[from..to].partition_point(|record| record.key() < key)
    }

    /// The share of all keys from its smallest to its largest that the file has.
    fn density(&self) -> f64 {
        self.records.len() as f64 / f64::from(self.largest() - self.smallest() + 1)
    }
}
