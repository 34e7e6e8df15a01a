//! Universal compaction: `UniversalCompactionBuilder` in
//! db/compaction/compaction_picker_universal.cc.

use crate::compaction::Compaction;
use crate::options::Options;
use crate::tree::{FileId, Tree};

/// A sorted run: a file of level 0, or all of another level.
struct SortedRun {
    level: usize,
    files: Vec<FileId>,
    bytes: u64,
    being_compacted: bool,
}

pub fn pick(tree: &Tree, options: &Options) -> Option<Compaction> {
    let runs = sorted_runs(tree);
    let trigger = options.level0_file_num_compaction_trigger;
    // The score (`ComputeCompactionScore` in db/version_set.cc) does not count runs that are being
    // merged.
    let idle = runs.iter().filter(|run| !run.being_compacted).count();
    if idle < trigger {
        return None;
    }
    let found = match options.version.may_leave_out_new_runs() {
        true => too_large_without_new(&runs, options),
        false => too_large(&runs, options),
    };
    if let Some(start) = found {
        return planned(tree, options, &runs, start, runs.len(), true);
    }
    let ratio = Some(options.universal_size_ratio);
    let found = similar(&runs, options, ratio, usize::MAX).or_else(|| {
        let count = (idle + 1).checked_sub(trigger).filter(|_| idle > trigger)?;
        similar(&runs, options, None, count)
    });
    let (start, end) = found?;
    planned(tree, options, &runs, start, end, is_compressed(&runs, options, end))
}

/// The runs, the newest first.
fn sorted_runs(tree: &Tree) -> Vec<SortedRun> {
    let run = |level: usize, files: Vec<FileId>| SortedRun {
        level,
        bytes: tree.bytes_of(&files),
        being_compacted: tree.any_being_compacted(&files),
        files,
    };
    let level0 = tree.levels[0].iter().map(|&id| run(0, vec![id]));
    let below = (1..tree.levels.len())
        .filter(|&level| !tree.levels[level].is_empty())
        .map(|level| run(level, tree.levels[level].clone()));
    level0.chain(below).collect()
}

/// The run from which on all are merged, because the runs before the last are too large compared
/// with it.
fn too_large(runs: &[SortedRun], options: &Options) -> Option<usize> {
    let (last, above) = runs.split_last()?;
    if last.being_compacted {
        return None;
    }
    let start = above.iter().position(|run| !run.being_compacted)?;
    if above[start..].iter().any(|run| run.being_compacted) {
        return None;
    }
    let bytes: u64 = above[start..].iter().map(|run| run.bytes).sum();
    let most = options.universal_max_size_amplification_percent.saturating_mul(last.bytes);
    (bytes.saturating_mul(100) >= most).then_some(start)
}

/// The same in later versions: all runs before the last that follow each other and are idle. New
/// runs are left out if writes are near their stop.
fn too_large_without_new(runs: &[SortedRun], options: &Options) -> Option<usize> {
    let (last, above) = runs.split_last()?;
    if last.being_compacted {
        return None;
    }
    let start = above.iter().rposition(|run| run.being_compacted).map_or(0, |place| place + 1);
    let above = &above[start..];
    let all: u64 = above.iter().map(|run| run.bytes).sum();
    let is_large = |bytes: u64| {
        let most = options.universal_max_size_amplification_percent.saturating_mul(last.bytes);
        bytes.saturating_mul(100) >= most
    };
    if above.is_empty() || !is_large(all) {
        return None;
    }
    let (least, most) = left_out(above, options);
    // At least 90 % of the bytes must stay.
    let fits = |count: usize| {
        let left: u64 = above[count..].iter().map(|run| run.bytes).sum();
        is_large(left) && left >= all * 9 / 10
    };
    Some(start + (least..=most).take_while(|&count| fits(count)).last().unwrap_or(0))
}

/// The smallest and the largest number of the newest runs to leave out. `above` are the idle runs
/// before the last that follow each other: `MightExcludeNewL0sToReduceWriteStop`.
fn left_out(above: &[SortedRun], options: &Options) -> (usize, usize) {
    let level0 = above.iter().filter(|run| run.level == 0).count();
    // At least one run of level 0 is merged, and at least two runs in all.
    let most = level0.saturating_sub(1).min(above.len() - 1);
    let until_stop = options.level0_stop_writes_trigger.saturating_sub(above.len() + 1);
    let beyond = |width: usize| width.saturating_sub(until_stop).min(most);
    (beyond(options.universal_min_merge_width), beyond(options.universal_max_merge_width))
}

/// The first runs in a row whose sizes are similar. Without a ratio, all sizes are.
fn similar(
    runs: &[SortedRun],
    options: &Options,
    ratio: Option<u64>,
    most: usize,
) -> Option<(usize, usize)> {
    let least = options.universal_min_merge_width.max(2);
    let most = most.min(options.universal_max_merge_width);
    for start in (0..runs.len()).filter(|&place| !runs[place].being_compacted) {
        let mut bytes = runs[start].bytes;
        let mut end = start + 1;
        while end < runs.len() && end - start < most && !runs[end].being_compacted {
            let fits = ratio.is_none_or(|percent| {
                bytes as f64 * (100 + percent) as f64 / 100.0 >= runs[end].bytes as f64
            });
            if !fits {
                break;
            }
            bytes += runs[end].bytes;
            end += 1;
        }
        if end - start >= least {
            return Some((start, end));
        }
    }
    None
}

/// Whether the outputs are compressed. They are not if older runs contain a large enough share of
/// all bytes.
fn is_compressed(runs: &[SortedRun], options: &Options, end: usize) -> bool {
    let percent = options.universal_compression_size_percent;
    if percent < 0 {
        return true;
    }
    let all: u64 = runs.iter().map(|run| run.bytes).sum();
    let older: u64 = runs[end..].iter().map(|run| run.bytes).sum();
    runs[end..].is_empty() || older * 100 < all * percent as u64
}

fn planned(
    tree: &Tree,
    options: &Options,
    runs: &[SortedRun],
    start: usize,
    end: usize,
    compressed: bool,
) -> Option<Compaction> {
    let output_level = match runs.get(end) {
        None => options.num_levels - 1,
        Some(next) => next.level.saturating_sub(1),
    };
    let mut inputs: Vec<(usize, Vec<FileId>)> = Vec::new();
    for run in &runs[start..end] {
        match inputs.last_mut() {
            Some((level, files)) if *level == run.level => files.extend(&run.files),
            _ => inputs.push((run.level, run.files.clone())),
        }
    }
    let range = tree.range_of(inputs.iter().flat_map(|(_, ids)| ids.iter().copied()))?;
    let plain = crate::codec::Codec::None;
    Some(Compaction {
        inputs,
        output_level,
        codec: if compressed { options.codec_of(output_level, 1) } else { plain },
        target_file_bytes: options.target_file_bytes(output_level, 1),
        grandparents: Vec::new(),
        range,
        is_trivial_move: false,
        is_deletion: false,
    })
}
