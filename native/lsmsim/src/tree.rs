//! The tree: files with real keys, sorted in levels.
//!
//! A large tree has thousands of files in a level, and a run needs sums over them at each event. So
//! the tree keeps these sums.

use std::cell::Cell;

use crate::codec::Codec;

/// The number of a file. Each is used once.
pub type FileId = usize;

/// A record of the sample. The upper half is the key. The lower half is smaller the later the
/// record was written, so the newest record of a key comes first.
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

/// A table file. `records` are its records of the sample in the order of their keys, one per key.
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
    /// Bytes of the files of the next level that it overlaps. None: not computed.
    overlapped_bytes: Cell<Option<u64>>,
}

impl File {
    /// Make a file of these records. There must be at least one.
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

/// Sort the records, and keep only the newest of each key.
pub fn merged(mut records: Vec<Record>) -> Vec<Record> {
    records.sort(); // faster than an unstable sort, because it merges runs that are sorted
    records.dedup_by_key(|record| record.key());
    records
}

/// A range of keys, with both ends.
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

/// All files, and the files of each level.
///
/// Level 0 has its newest file first. The files of other levels are in the order of their keys and
/// do not overlap.
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

    /// Add a file, which is in no level yet.
    pub fn create(&mut self, file: File) -> FileId {
        debug_assert!(file.records.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        self.files.push(file);
        self.files.len() - 1
    }

    /// Insert files into a level: by age into level 0, by their keys into other levels.
    pub fn insert(&mut self, level: usize, ids: &[FileId]) {
        if level == 0 {
            // The place of a file that was merged within level 0 is that of its newest record.
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

    /// Remove files from a level. For a sorted level, `ids` must be in its order.
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
            // Neighbours are removed together, because each removal moves all files after it.
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

    /// Forget the overlaps of files of the level above that overlap changed files.
    fn forget_overlaps(&self, level: usize, changed: &[FileId]) {
        if level < 2 {
            return; // the overlaps of level 0 are never used
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

    /// Bytes of the files of the next level that a file overlaps.
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

    /// Drop the records of a file that is in no level.
    pub fn drop_records(&mut self, id: FileId) {
        self.files[id].records = Vec::new();
    }

    /// Mark files that a compaction reads from now on.
    pub fn mark_being_compacted(&mut self, level: usize, ids: &[FileId]) {
        for &id in ids {
            self.files[id].being_compacted = true;
            self.sums[level].being_compacted += self.files[id].bytes;
        }
    }

    /// Whether a file of a level has the key.
    pub fn has(&self, key: u32) -> bool {
        self.levels.iter().flatten().any(|&id| self.files[id].has(key))
    }

    /// The number of all files, also of those that are in no level.
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

    /// The range from the smallest to the largest key of files. None without files.
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

    /// The files of a sorted level whose keys are all in the range.
    pub fn within(&self, level: usize, range: &Range) -> Vec<FileId> {
        let ids = &self.levels[level];
        let first = ids.partition_point(|&id| self.files[id].smallest() < range.smallest);
        let end = ids.partition_point(|&id| self.files[id].largest() <= range.largest);
        ids[first..end.max(first)].to_vec()
    }

    /// Give the tree of a settled store this number of levels, which includes all levels with files.
    /// `down`: let the deepest level with files become the last one, and the others follow.
    pub fn reopen(&mut self, levels: usize, down: bool) {
        self.levels.resize(levels, Vec::new());
        self.sums.resize(levels, Sums::default());
        let mut to = levels - 1;
        for from in (1..levels).rev().filter(|_| down) {
            if !self.levels[from].is_empty() {
                self.levels.swap(from, to);
                self.sums.swap(from, to);
                to -= 1;
            }
        }
        self.files.iter().for_each(|file| file.overlapped_bytes.set(None));
    }

    /// The deepest level that has files. None for an empty tree.
    pub fn deepest(&self) -> Option<usize> {
        self.levels.iter().rposition(|level| !level.is_empty())
    }
}
