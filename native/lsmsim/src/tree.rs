//! The tree: files with real keys, sorted in levels.
//!
//! A large tree has thousands of files in a level, and a run asks for sums over them at each event:
//! the tree keeps these sums.

use std::cell::Cell;

use crate::codec::Codec;

/// A file's place in the store of files; never used twice.
pub type FileId = usize;

/// A record of the sample: its key above, and below it how early it was written, so that of one
/// key's records the newest comes first in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record(u64);

impl Record {
    pub fn new(key: u32, sequence: u32) -> Self {
        Self(u64::from(key) << 32 | u64::from(u32::MAX - sequence))
    }

    pub fn key(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn sequence(self) -> u32 {
        u32::MAX - self.0 as u32
    }
}

/// A table file. `records` are those of the sample that it holds, in order, of each key one.
#[derive(Clone, Debug)]
pub struct File {
    pub records: Vec<Record>,
    pub bytes: u64,
    pub codec: Codec,
    pub is_filtered: bool,
    /// Sequence numbers of its oldest and its newest record.
    pub oldest: u32,
    pub newest: u32,
    pub being_compacted: bool,
    keys: Range,
    /// Bytes of the next level's files that it overlaps; None: not known.
    overlapped_bytes: Cell<Option<u64>>,
}

impl File {
    /// A file of these records, of which there is one at least.
    pub fn new(records: Vec<Record>, bytes: u64, codec: Codec, is_filtered: bool) -> Self {
        let sequences = || records.iter().map(|record| record.sequence());
        let (oldest, newest) = (sequences().min().unwrap_or(0), sequences().max().unwrap_or(0));
        let keys = Range {
            smallest: records.first().map_or(0, |record| record.key()),
            largest: records.last().map_or(0, |record| record.key()),
        };
        Self {
            records,
            bytes,
            codec,
            is_filtered,
            oldest,
            newest,
            being_compacted: false,
            keys,
            overlapped_bytes: Cell::new(None),
        }
    }

    pub fn smallest(&self) -> u32 {
        self.keys.smallest
    }

    pub fn largest(&self) -> u32 {
        self.keys.largest
    }
}

/// The records in order, and of each key the newest alone.
pub fn merged(mut records: Vec<Record>) -> Vec<Record> {
    records.sort(); // stable: it finds the sorted runs, and merges them
    records.dedup_by_key(|record| record.key());
    records
}

/// Smallest and largest key of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub smallest: u32,
    pub largest: u32,
}

impl Range {
    pub fn overlaps(&self, other: &Range) -> bool {
        self.smallest <= other.largest && other.smallest <= self.largest
    }
}

/// All files, and which of them each level has.
///
/// Level 0 has its newest file first; the files of the others lie in the order of their keys and
/// share none.
#[derive(Clone, Debug)]
pub struct Tree {
    files: Vec<File>,
    pub levels: Vec<Vec<FileId>>,
    sums: Vec<Sums>,
}

/// Bytes of a level's files, and of those that a compaction reads.
#[derive(Clone, Debug, Default)]
struct Sums {
    bytes: u64,
    being_compacted: u64,
}

impl Tree {
    pub fn new(levels: usize) -> Self {
        Self {
            files: Vec::new(),
            levels: vec![Vec::new(); levels],
            sums: vec![Sums::default(); levels],
        }
    }

    pub fn file(&self, id: FileId) -> &File {
        &self.files[id]
    }

    /// A new file, in no level yet.
    pub fn create(&mut self, file: File) -> FileId {
        debug_assert!(file.records.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        self.files.push(file);
        self.files.len() - 1
    }

    /// Put files into a level: in front of level 0, in the order of their keys into the others.
    pub fn insert(&mut self, level: usize, ids: &[FileId]) {
        if level == 0 {
            // A file merged within level 0 stands where its newest record belongs.
            for &id in ids {
                let newest = self.files[id].newest;
                let place =
                    self.levels[0].partition_point(|&other| self.files[other].newest > newest);
                self.levels[0].insert(place, id);
            }
        } else if let Some(&first) = ids.first() {
            let smallest = self.files[first].smallest();
            let place =
                self.levels[level].partition_point(|&id| self.files[id].largest() < smallest);
            self.levels[level].splice(place..place, ids.iter().copied());
        }
        for &id in ids {
            self.files[id].overlapped_bytes.set(None);
            self.sums[level].bytes += self.files[id].bytes;
        }
        self.forget_overlaps(level, ids);
    }

    /// Take files out of a level; they stay known. Those of a sorted level come in its order.
    pub fn remove(&mut self, level: usize, ids: &[FileId]) {
        let mut left = ids;
        while let Some(&first) = left.first() {
            let files = &self.levels[level];
            let place = match level {
                0 => files.iter().position(|&id| id == first),
                _ => Some(files.partition_point(|&id| {
                    self.files[id].smallest() < self.files[first].smallest()
                })),
            };
            let place = place.expect("the level has the file");
            // Neighbours go together: each removal moves all files behind it.
            let count = left.iter().zip(&files[place..]).take_while(|(a, b)| a == b).count();
            self.levels[level].drain(place..place + count);
            left = &left[count..];
        }
        for &id in ids {
            let file = &self.files[id];
            self.sums[level].bytes -= file.bytes;
            if file.being_compacted {
                self.sums[level].being_compacted -= file.bytes;
            }
        }
        self.forget_overlaps(level, ids);
    }

    /// Files of the level above no longer know how much of this level they overlap.
    fn forget_overlaps(&self, level: usize, changed: &[FileId]) {
        if level < 2 {
            return; // nothing asks for the overlaps of level 0
        }
        let above = &self.levels[level - 1];
        for &id in changed {
            let keys = self.files[id].keys;
            let first = above.partition_point(|&id| self.files[id].largest() < keys.smallest);
            let overlaps = above[first..].iter().map(|&id| &self.files[id]);
            for file in overlaps.take_while(|file| file.smallest() <= keys.largest) {
                file.overlapped_bytes.set(None);
            }
        }
    }

    /// Bytes of the next level's files that a file of a level overlaps.
    pub fn overlapped_bytes(&self, level: usize, id: FileId) -> u64 {
        let file = &self.files[id];
        file.overlapped_bytes.get().unwrap_or_else(|| {
            let below = &self.levels[level + 1];
            let first = below.partition_point(|&id| self.files[id].largest() < file.smallest());
            let overlaps = below[first..].iter().map(|&id| &self.files[id]);
            let bytes = overlaps
                .take_while(|other| other.smallest() < file.largest())
                .map(|other| other.bytes)
                .sum();
            file.overlapped_bytes.set(Some(bytes));
            bytes
        })
    }

    /// Forget the records of a file that no level has.
    pub fn drop_records(&mut self, id: FileId) {
        self.files[id].records = Vec::new();
    }

    /// A compaction reads these files from now on.
    pub fn mark_being_compacted(&mut self, level: usize, ids: &[FileId]) {
        for &id in ids {
            self.files[id].being_compacted = true;
            self.sums[level].being_compacted += self.files[id].bytes;
        }
    }

    /// Whether a level has a file that has the key.
    pub fn has(&self, key: u32) -> bool {
        self.levels.iter().flatten().any(|&id| self.files[id].has(key))
    }

    /// How many files there have been.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    pub fn bytes_of(&self, ids: &[FileId]) -> u64 {
        ids.iter().map(|&id| self.files[id].bytes).sum()
    }

    pub fn level_bytes(&self, level: usize) -> u64 {
        self.sums[level].bytes
    }

    /// Bytes of a level's files that no compaction reads.
    pub fn idle_bytes(&self, level: usize) -> u64 {
        self.sums[level].bytes - self.sums[level].being_compacted
    }

    pub fn live_bytes(&self) -> u64 {
        (0..self.levels.len()).map(|level| self.level_bytes(level)).sum()
    }

    pub fn any_being_compacted(&self, ids: &[FileId]) -> bool {
        ids.iter().any(|&id| self.files[id].being_compacted)
    }

    /// From the smallest to the largest key of files; None of none.
    pub fn range_of(&self, ids: impl IntoIterator<Item = FileId>) -> Option<Range> {
        ids.into_iter().map(|id| &self.files[id]).fold(None, |range: Option<Range>, file| {
            let (smallest, largest) = (file.smallest(), file.largest());
            Some(range.map_or(Range { smallest, largest }, |so_far| Range {
                smallest: so_far.smallest.min(smallest),
                largest: so_far.largest.max(largest),
            }))
        })
    }

    /// The files of a level that have keys in the range.
    pub fn overlapping(&self, level: usize, range: &Range) -> Vec<FileId> {
        let ids = &self.levels[level];
        if level == 0 {
            let overlaps = |id: &&FileId| {
                let file = &self.files[**id];
                Range { smallest: file.smallest(), largest: file.largest() }.overlaps(range)
            };
            return ids.iter().filter(overlaps).copied().collect();
        }
        let first = ids.partition_point(|&id| self.files[id].largest() < range.smallest);
        let end = ids.partition_point(|&id| self.files[id].smallest() <= range.largest);
        ids[first..end.max(first)].to_vec()
    }

    /// The files of a sorted level that lie wholly within the range.
    pub fn within(&self, level: usize, range: &Range) -> Vec<FileId> {
        let ids = &self.levels[level];
        let first = ids.partition_point(|&id| self.files[id].smallest() < range.smallest);
        let end = ids.partition_point(|&id| self.files[id].largest() <= range.largest);
        ids[first..end.max(first)].to_vec()
    }

    /// The deepest level that has files; None of an empty tree.
    pub fn deepest(&self) -> Option<usize> {
        self.levels.iter().rposition(|level| !level.is_empty())
    }
}
