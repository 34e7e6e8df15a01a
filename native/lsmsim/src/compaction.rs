//! A compaction: its inputs and its outputs.

use crate::codec::Codec;
use crate::options::Options;
use crate::table::Sizes;
use crate::tree::{merged, File, FileId, Range, Record, Tree};

/// The files to merge, and the level of the outputs.
#[derive(Clone, Debug)]
pub struct Compaction {
    /// Files by level, from the highest level to the deepest.
    pub inputs: Vec<(usize, Vec<FileId>)>,
    pub output_level: usize,
    pub codec: Codec,
    pub target_file_bytes: u64,
    /// Files two levels below. Outputs may end where one of these ends.
    pub grandparents: Vec<FileId>,
    pub range: Range,
    /// Files change their level; nothing is read or written.
    pub is_trivial_move: bool,
    /// Files are dropped instead of merged (FIFO).
    pub is_deletion: bool,
}

impl Compaction {
    pub fn start_level(&self) -> usize {
        self.inputs[0].0
    }

    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.inputs.iter().flat_map(|(_, ids)| ids.iter().copied())
    }

    /// Whether no older records can be below the outputs (`IsBottommostLevel`).
    fn is_bottommost(&self, tree: &Tree) -> bool {
        let oldest = tree.levels[0].last();
        let takes_oldest = oldest.is_none_or(|&oldest| self.files().any(|id| id == oldest));
        let mut below = self.output_level + 1..tree.levels.len();
        (self.output_level > 0 || takes_oldest)
            && below.all(|level| tree.overlapping(level, &self.range).is_empty())
    }
}

/// Merge the inputs. The outputs have only the newest record of each key.
///
/// `records_per_key` is the number of records that a key of the sample represents.
pub fn merge(
    compaction: &Compaction,
    tree: &Tree,
    options: &Options,
    sizes: &Sizes,
    records_per_key: f64,
    filtered: bool,
) -> Vec<File> {
    let inputs = || compaction.files().map(|id| tree.file(id));
    let mut all = Vec::with_capacity(inputs().map(|file| file.records.len()).sum());
    for file in inputs() {
        all.extend_from_slice(&file.records);
    }
    let records = merged(all);
    let zeroed = compaction.is_bottommost(tree);
    let bytes_of = |count: usize| {
        sizes.file(count as f64 * records_per_key, compaction.codec, filtered, zeroed) as u64
    };
    let per_key = bytes_of(1024).saturating_sub(bytes_of(0)) as f64 / 1024.0;
    let mut start = 0;
    Cutter::new(compaction, tree, options, per_key)
        .ends(&records)
        .into_iter()
        .map(|end| {
            let own = records[start..end].to_vec();
            start = end;
            let bytes = bytes_of(own.len());
            File::new(own, bytes, compaction.codec, filtered)
        })
        .collect()
}

/// Decides where one output ends and the next begins: `CompactionOutputs::ShouldStopBefore`.
///
/// From RocksDB 7.8 on, an output with grandparents may grow to twice its target, so that most
/// outputs end where a grandparent ends. This is allowed from half of the target on. The more
/// ends of grandparents an output has passed, the larger it must be.
struct Cutter<'a> {
    grandparents: Vec<&'a File>,
    /// The grandparent that contains the current key, or else the next one.
    at: usize,
    in_gap: bool,
    seen_key: bool,
    overlapped_bytes: u64,
    switched: u64,
    target_bytes: f64,
    most_bytes: f64,
    max_compaction_bytes: u64,
    bytes_per_key: f64,
}

impl<'a> Cutter<'a> {
    fn new(compaction: &Compaction, tree: &'a Tree, options: &Options, bytes_per_key: f64) -> Self {
        let target = compaction.target_file_bytes as f64;
        Self {
            grandparents: compaction.grandparents.iter().map(|&id| tree.file(id)).collect(),
            at: 0,
            in_gap: true,
            seen_key: false,
            overlapped_bytes: 0,
            switched: 0,
            target_bytes: target,
            most_bytes: match compaction.output_level {
                0 => f64::INFINITY,
                _ if compaction.grandparents.is_empty() => target,
                _ => 2.0 * target,
            },
            max_compaction_bytes: options.max_compaction_bytes,
            bytes_per_key,
        }
    }

    /// The ends of the files. Each is the place after a file's last key.
    fn ends(mut self, records: &[Record]) -> Vec<usize> {
        let mut ends = Vec::new();
        if self.most_bytes.is_infinite() {
            ends.push(records.len());
            return ends;
        }
        let (mut start, mut place) = (0, 0);
        while place < records.len() {
            // Between two ends of grandparents, only the size can end a file.
            let until = self.next_end(records, place);
            let room = (self.most_bytes / self.bytes_per_key).ceil().max(1.0) as usize;
            if start + room <= until && start + room < records.len() {
                place = start + room;
                self.cross(records[place].key());
                ends.push(place);
                start = place;
                self.begin();
                place += 1;
                continue;
            }
            if until >= records.len() {
                break;
            }
            place = until;
            let before = self.overlapped_bytes;
            let crossed = self.cross(records[place].key());
            let size = (place - start) as f64 * self.bytes_per_key;
            if place > start && self.ends_before(crossed, before, size) {
                ends.push(place);
                start = place;
                self.begin();
            }
            place += 1;
        }
        if start < records.len() {
            ends.push(records.len());
        }
        ends
    }

    /// The first place, starting at `from`, whose key crosses a boundary of a grandparent.
    fn next_end(&self, records: &[Record], from: usize) -> usize {
        let Some(next) = self.grandparents.get(self.at) else { return records.len() };
        if !self.seen_key {
            return from;
        }
        let rest = &records[from..];
        from + if self.in_gap {
            rest.partition_point(|record| record.key() < next.smallest())
        } else {
            rest.partition_point(|record| record.key() <= next.largest())
        }
    }

    /// Move on to a key. Return the number of grandparents' boundaries that were crossed.
    fn cross(&mut self, key: u32) -> usize {
        let mut crossed = 0;
        while let Some(next) = self.grandparents.get(self.at) {
            if self.in_gap {
                if key < next.smallest() {
                    break;
                }
                if self.seen_key {
                    crossed += 1;
                    self.overlapped_bytes += next.bytes;
                    self.switched += 1;
                }
                self.in_gap = false;
            } else {
                if key <= next.largest() {
                    break;
                }
                if self.seen_key {
                    crossed += 1;
                    self.switched += 1;
                }
                self.in_gap = true;
                self.at += 1;
            }
        }
        if !self.seen_key {
            self.overlapped_bytes = self.overlapped_now();
        }
        self.seen_key = true;
        crossed
    }

    /// Begin a file.
    fn begin(&mut self) {
        self.switched = 0;
        self.overlapped_bytes = self.overlapped_now();
    }

    fn overlapped_now(&self) -> u64 {
        if self.in_gap {
            0
        } else {
            self.grandparents.get(self.at).map_or(0, |file| file.bytes)
        }
    }

    fn ends_before(&self, crossed: usize, overlapped_before: u64, size: f64) -> bool {
        if crossed == 0 {
            return false;
        }
        if self.overlapped_bytes as f64 + size > self.max_compaction_bytes as f64 {
            return true;
        }
        let skippable = if self.in_gap { 2 } else { 3 };
        let added = self.overlapped_bytes.saturating_sub(overlapped_before) as f64;
        crossed >= skippable && added > self.target_bytes / 8.0
            || size >= self.target_bytes / 100.0 * (50 + (self.switched * 5).min(40)) as f64
    }
}
