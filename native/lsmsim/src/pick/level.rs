//! Levelled compaction: `LevelCompactionBuilder` in db/compaction/compaction_picker_level.cc and
//! `SetupOtherInputs` in db/compaction/compaction_picker.cc.

use std::cmp::Reverse;

use super::{newest_of_level0, Running};
use crate::compaction::Compaction;
use crate::options::{Options, Priority};
use crate::shape::Shape;
use crate::tree::{FileId, Range, Tree};

/// The smallest number of files that are merged within level 0.
const LEAST_WITHIN_LEVEL0: usize = 4;
/// Level 0 is small if its bytes, times the multiplier of levels, times this factor, are fewer than
/// the bytes of the base level.
const TIMES_MULTIPLIER: f64 = 2.0;
/// A smaller multiplier of levels is taken for this one.
const LEAST_MULTIPLIER: f64 = 10.0;
/// The number of files of a level that are ordered by priority. The others follow in their order.
const MOST_ORDERED: usize = 50;
/// The largest number of files that are moved at once.
const MOST_MOVED: usize = 4;

/// The key after which round robin continues in each level.
#[derive(Clone, Debug)]
pub struct Cursors(Vec<Option<u32>>);

impl Cursors {
    pub fn new(levels: usize) -> Self {
        Self(vec![None; levels])
    }
}

pub fn pick(
    tree: &Tree,
    shape: &Shape,
    options: &Options,
    running: &Running,
    cursors: &mut Cursors,
) -> Option<Compaction> {
    let mut skipped_level0 = false;
    for (level, score) in shape.scores(tree, options) {
        if score < 1.0 {
            break;
        }
        if skipped_level0 && level == shape.base_level {
            continue; // otherwise level 0 might wait forever
        }
        if level == 0 && options.version.keeps_small_level0() {
            if let Some(files) = small_beside_base(tree, shape, options) {
                return planned(tree, shape, options, vec![(0, files)], 0);
            }
        }
        let output = if level == 0 { shape.base_level } else { level + 1 };
        let start = if level == 0 {
            level0_to(tree, output, running)
        } else {
            from_level(tree, options, running, cursors, level)
        };
        if let Some(start) = start {
            return with_others(tree, shape, options, running, level, output, start);
        }
        if level == 0 {
            skipped_level0 = true;
            if let Some(files) = within_level0(tree, options) {
                return planned(tree, shape, options, vec![(0, files)], 0);
            }
        }
    }
    None
}

/// The newest files of level 0, if level 0 is small compared with the base level. To merge it into
/// the base level would write many bytes for few: `PickSizeBasedIntraL0Compaction`.
fn small_beside_base(tree: &Tree, shape: &Shape, options: &Options) -> Option<Vec<FileId>> {
    let multiplier = options.max_bytes_for_level_multiplier.max(LEAST_MULTIPLIER);
    let most = tree.level_bytes(0) as f64 * multiplier * TIMES_MULTIPLIER;
    if tree.level_bytes(shape.base_level) as f64 <= most {
        return None;
    }
    let is_idle = |id: &&FileId| !tree.file(**id).being_compacted;
    let files: Vec<FileId> = tree.levels[0].iter().take_while(is_idle).copied().collect();
    (files.len() >= options.level0_file_num_compaction_trigger.max(2)).then_some(files)
}

/// The oldest file of level 0 with all files that it overlaps, directly or through others. None if
/// a file of these or below them is being compacted.
fn level0_to(tree: &Tree, output: usize, running: &Running) -> Option<Vec<FileId>> {
    let files = &tree.levels[0];
    let &oldest = files.last()?;
    if running.takes_level0() {
        return None;
    }
    let mut range = tree.range_of([oldest])?;
    let mut start = vec![oldest];
    loop {
        let overlapping = tree.overlapping(0, &range);
        if overlapping.len() == start.len() {
            break;
        }
        start = overlapping;
        range = tree.range_of(start.iter().copied())?;
    }
    let below = tree.overlapping(output, &range);
    let free = !tree.any_being_compacted(&start)
        && !tree.any_being_compacted(&below)
        && !running.writes(output, &range);
    free.then_some(start)
}

/// The file of a level with the highest priority among those that may be compacted now.
fn from_level(
    tree: &Tree,
    options: &Options,
    running: &Running,
    cursors: &mut Cursors,
    level: usize,
) -> Option<Vec<FileId>> {
    for place in ordered(tree, options.compaction_pri, cursors.0[level], level) {
        let id = tree.levels[level][place];
        let range = tree.range_of([id])?;
        let below = tree.overlapping(level + 1, &range);
        let is_free = !tree.file(id).being_compacted
            && !running.writes(level + 1, &range)
            && !tree.any_being_compacted(&below);
        if is_free {
            cursors.0[level] = Some(tree.file(id).largest());
            let plain = options.min_level_to_compress < 0;
            return Some(if below.is_empty() && plain {
                moved_along(tree, options, level, place)
            } else {
                vec![id]
            });
        }
        if options.compaction_pri == Priority::RoundRobin {
            return None;
        }
    }
    None
}

/// The places of a level's files, in the order in which they should be compacted.
fn ordered(tree: &Tree, priority: Priority, cursor: Option<u32>, level: usize) -> Vec<usize> {
    let ids = &tree.levels[level];
    let mut places: Vec<usize> = (0..ids.len()).collect();
    let file = |place: usize| tree.file(ids[place]);
    match priority {
        Priority::Largest => first_sorted(&mut places, |place| Reverse(file(place).bytes)),
        Priority::OldestLargestSequence => {
            places.sort_by_key(|&place| file(place).newest);
        }
        Priority::OldestSmallestSequence => {
            places.sort_by_key(|&place| file(place).oldest);
        }
        Priority::LeastOverlap => {
            // In units of 1/1024, as in RocksDB.
            let overlap = |place: usize| tree.overlapped_bytes(level, ids[place]) * 1024;
            first_sorted(&mut places, |place| (overlap(place) / file(place).bytes.max(1), place));
        }
        Priority::RoundRobin => {
            let next =
                cursor.map_or(0, |key| ids.partition_point(|&id| tree.file(id).smallest() <= key));
            places.rotate_left(if next < ids.len() { next } else { 0 });
        }
    }
    places
}

/// Order only the first places, as RocksDB does.
fn first_sorted<K: Ord>(places: &mut [usize], key: impl Fn(usize) -> K) {
    if places.len() > MOST_ORDERED {
        places.select_nth_unstable_by_key(MOST_ORDERED - 1, |&place| key(place));
    }
    let count = places.len().min(MOST_ORDERED);
    places[..count].sort_by_key(|&place| key(place));
}

/// A file that can be moved, with its neighbours that can be moved together with it.
fn moved_along(tree: &Tree, options: &Options, level: usize, place: usize) -> Vec<FileId> {
    let ids = &tree.levels[level];
    let mut moved = vec![ids[place]];
    let mut bytes = tree.file(ids[place]).bytes;
    let mut add = |moved: &mut Vec<FileId>, id: FileId, left: bool| {
        let span = tree.range_of([ids[place], id]);
        let blocked = tree.file(id).being_compacted
            || span.is_none_or(|range| !tree.overlapping(level + 1, &range).is_empty());
        bytes += tree.file(id).bytes;
        if blocked || bytes > options.max_compaction_bytes || moved.len() == MOST_MOVED {
            return false;
        }
        moved.insert(if left { 0 } else { moved.len() }, id);
        true
    };
    for &id in &ids[place + 1..] {
        if !add(&mut moved, id, false) {
            break;
        }
    }
    if options.compaction_pri != Priority::RoundRobin {
        for &id in ids[..place].iter().rev() {
            if !add(&mut moved, id, true) {
                break;
            }
        }
    }
    moved
}

/// The newest files of level 0, to be merged if no compaction to the next level may start.
///
/// `PickCostBasedIntraL0Compaction`.
fn within_level0(tree: &Tree, options: &Options) -> Option<Vec<FileId>> {
    let has_enough = tree.levels[0].len() >= options.level0_file_num_compaction_trigger + 2;
    has_enough.then(|| newest_of_level0(tree, options, LEAST_WITHIN_LEVEL0, u64::MAX))?
}

/// The compaction of these files with those below. More files of the same level are added if they
/// overlap no more files below.
fn with_others(
    tree: &Tree,
    shape: &Shape,
    options: &Options,
    running: &Running,
    level: usize,
    output: usize,
    start: Vec<FileId>,
) -> Option<Compaction> {
    let range = tree.range_of(start.iter().copied())?;
    let below = tree.overlapping(output, &range);
    if below.is_empty() {
        return planned(tree, shape, options, vec![(level, start)], output);
    }
    let start = expanded(tree, options, level, output, &start, &below).unwrap_or(start);
    let all = tree.range_of(start.iter().chain(&below).copied())?;
    if running.writes(output, &all) {
        return None;
    }
    planned(tree, shape, options, vec![(level, start), (output, below)], output)
}

fn expanded(
    tree: &Tree,
    options: &Options,
    level: usize,
    output: usize,
    start: &[FileId],
    below: &[FileId],
) -> Option<Vec<FileId>> {
    let all = tree.range_of(start.iter().chain(below).copied())?;
    let times = if options.version.doubles_limit() { 2 } else { 1 };
    let limit = options.max_compaction_bytes.saturating_mul(times);
    let room = limit.saturating_sub(tree.bytes_of(below));
    let fits = |files: &[FileId]| {
        files.len() > start.len() && tree.bytes_of(files) < room && !tree.any_being_compacted(files)
    };
    let overlapping = tree.overlapping(level, &all);
    if fits(&overlapping) {
        let range = tree.range_of(overlapping.iter().copied())?;
        if tree.overlapping(output, &range).len() == below.len() {
            return Some(overlapping);
        }
    }
    if level == 0 {
        return None;
    }
    let within = tree.within(level, &all);
    fits(&within).then_some(within)
}

/// The compaction of chosen files.
fn planned(
    tree: &Tree,
    shape: &Shape,
    options: &Options,
    inputs: Vec<(usize, Vec<FileId>)>,
    output_level: usize,
) -> Option<Compaction> {
    let range = tree.range_of(inputs.iter().flat_map(|(_, ids)| ids.iter().copied()))?;
    let codec = options.codec_of(output_level, shape.base_level);
    let next = output_level + 1;
    let grandparents = if output_level > 0 && next < options.num_levels {
        tree.overlapping(next, &range)
    } else {
        Vec::new()
    };
    let (level, files) = &inputs[0];
    let is_trivial_move = *level != output_level
        && inputs.len() == 1
        && (*level > 0 || files.len() == 1)
        && options.codec_of(*level, shape.base_level) == codec
        && files.iter().all(|&id| may_move(tree, options, next, id));
    Some(Compaction {
        target_file_bytes: options.target_file_bytes(output_level, shape.base_level),
        inputs,
        output_level,
        codec,
        grandparents,
        range,
        is_trivial_move,
        is_deletion: false,
    })
}

/// Whether a file may change its level without making a later compaction too large.
fn may_move(tree: &Tree, options: &Options, next: usize, id: FileId) -> bool {
    let below = tree.range_of([id]).filter(|_| next < options.num_levels);
    let bytes = below.map_or(0, |range: Range| tree.bytes_of(&tree.overlapping(next, &range)));
    bytes == 0 || tree.file(id).bytes + bytes <= options.max_compaction_bytes
}
