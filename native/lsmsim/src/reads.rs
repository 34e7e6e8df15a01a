//! Reads behind the load: gets that hit, gets that miss, short scans, on the settled tree.
//!
//! db_bench's `readrandom`, `readmissing` and `seekrandom`, one after the other in a process whose
//! block cache is empty at first. Every read looks at the files that RocksDB would look at
//! (`Version::Get`, `LevelIterator`), and takes the time of the blocks that it needs; those that
//! the block cache has not are in the page cache.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde::Deserialize;

use crate::cache::{Block, BlockCache};
use crate::codec::Codec;
use crate::cost::Costs;
use crate::histogram::Histogram;
use crate::jitter::jitter;
use crate::options::Options;
use crate::tree::{File, FileId, Tree};

/// How many reads of each kind are made, and how many records a scan reads on.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Probe {
    pub reads: u64,
    pub scan_length: u64,
}

/// So many reads of a kind are followed at most: those of a part of the keys, with as large a part
/// of the cache, so that as many blocks are found in it.
const MOST_FOLLOWED: u64 = 3000;
/// So many files are opened with the store where not all are (`LoadTableHandlers`).
const OPENED_FIRST: f64 = 16.0;
/// How much fewer keys each bit of a filter lets through that are not there.
const BLOOM_BASE: f64 = 0.6185;
const MICROS: f64 = 1e6;

/// What the reads come to, by the names of lsmtune's metrics.
pub fn probed(
    probe: Probe,
    tree: &Tree,
    options: &Options,
    costs: &Costs,
    seed: u64,
) -> BTreeMap<String, f64> {
    let runs = Runs::of(tree);
    let reads = probe.reads.min(MOST_FOLLOWED);
    let part = reads as f64 / probe.reads.max(1) as f64;
    let mut reader = Reader::new(&runs, options, costs, part, seed);
    // The same seed draws the keys that the load has written first.
    let mut keys = Rng::with_seed(seed);
    let last = (part * f64::from(costs.sample.keys)).ceil() as u32;
    let mut key = || loop {
        let drawn = keys.u32(0..costs.sample.keys);
        if drawn < last {
            return drawn;
        }
    };
    let mut told = BTreeMap::new();
    let mut tell = |name: &str, mut read: Box<dyn FnMut() -> u64 + '_>| {
        let mut latencies = Histogram::new();
        (0..reads).for_each(|_| latencies.add(read()));
        told.insert(format!("{name}_mean_us"), latencies.mean());
        for (what, share) in [("p50", 0.5), ("p75", 0.75), ("p99", 0.99)] {
            told.insert(format!("{name}_{what}_us"), latencies.percentile(share));
        }
    };
    tell("get", Box::new(|| reader.timed(|reader| reader.get(key(), true))));
    tell("get_missing", Box::new(|| reader.timed(|reader| reader.get(key(), false))));
    tell("scan", Box::new(|| reader.timed(|reader| reader.scan(key(), probe.scan_length as f64))));
    told.extend(reader.blocks.told(3 * reads));
    told
}

/// How many blocks of each kind were found in the cache, and how many were not.
#[derive(Default)]
struct Counts {
    found: [u64; 3],
    missed: [u64; 3],
    /// Files that were passed by for what their filter said.
    filtered: u64,
}

impl Counts {
    fn told(&self, reads: u64) -> BTreeMap<String, f64> {
        let reads = reads.max(1) as f64;
        let missed = self.missed.iter().sum::<u64>() as f64;
        let mut told = BTreeMap::from([
            ("read_amp".to_owned(), missed / reads),
            ("bloom_useful".to_owned(), self.filtered as f64 / reads),
        ]);
        for (kind, name) in ["data", "index", "filter"].iter().enumerate() {
            let all = self.found[kind] + self.missed[kind];
            if all > 0 {
                told.insert(format!("cache_hit_{name}"), self.found[kind] as f64 / all as f64);
            }
        }
        told
    }
}

/// The sorted runs of a tree: each file of level 0, and each level below that has some.
struct Runs<'a> {
    tree: &'a Tree,
    /// Those levels with the largest key of each of their files, where it is quick to find.
    below: Vec<(usize, Vec<u32>)>,
}

impl<'a> Runs<'a> {
    fn of(tree: &'a Tree) -> Self {
        let filled = (1..tree.levels.len()).filter(|&level| !tree.levels[level].is_empty());
        let largest =
            |level: usize| tree.levels[level].iter().map(|&id| tree.file(id).largest()).collect();
        Self { tree, below: filled.map(|level| (level, largest(level))).collect() }
    }

    /// Of each run the file that would have the key, or the next one behind it if there is one.
    fn files_for(&self, key: u32) -> impl Iterator<Item = Option<FileId>> + '_ {
        let level0 = self.tree.levels[0].iter().map(|&id| Some(id));
        let below = self.below.iter().map(move |(level, largest)| {
            let place = largest.partition_point(|&largest| largest < key);
            self.tree.levels[*level].get(place).copied()
        });
        level0.chain(below)
    }
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

    /// Whole microseconds of a read, as a clock of such shows them.
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

    /// A seek in every sorted run, and so many records of them all.
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

    /// Among all records of a file one of those for which the one at the place stands.
    fn drawn_at(&mut self, place: usize) -> f64 {
        ((place as f64 + self.rng.f64()) * self.costs.sample.every as f64).floor()
    }

    fn block_of(&self, record: f64) -> u64 {
        (record / self.costs.sizes.records_per_block()) as u64
    }

    /// Seconds to open a file, the first time that it is needed.
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

    /// Seconds to have an index or a filter at hand, of a file that is open.
    fn metadata(&mut self, block: Block) -> f64 {
        if !self.options.cache_index_and_filter_blocks {
            return 0.0;
        }
        self.looked_up(block)
    }

    fn data(&mut self, id: FileId, block: u64) -> f64 {
        self.looked_up(Block::Data(id, block))
    }

    /// Seconds to have a block at hand: from the cache, or from its file.
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
        // Plain blocks of a mapped file are read where they lie.
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

    /// Filters are never compressed.
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

    /// Where the key is, or the next one behind it: looked for around where it would be if keys lay
    /// evenly, as most do.
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

    /// The share of the keys from its smallest to its largest that it has.
    fn density(&self) -> f64 {
        self.records.len() as f64 / f64::from(self.largest() - self.smallest() + 1)
    }
}
