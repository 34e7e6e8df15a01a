//! Target sizes of levels, and the scores by which levels are compacted.
//!
//! `CalculateBaseBytes`, `ComputeCompactionScore` and `EstimateCompactionBytesNeeded` in
//! db/version_set.cc.

use crate::options::{Options, Style};
use crate::tree::Tree;

/// With dynamic levels, scores above 1 are multiplied by this.
const SCALE: f64 = 10.0;
/// The lowest score of a level that is drained, and the difference to the level above it.
const DRAINED: f64 = 1.001;
const DRAINED_STEP: f64 = 0.001;

/// Target sizes of the levels, and the level to which files of level 0 go.
#[derive(Clone, Debug)]
pub struct Shape {
    pub base_level: usize,
    target_bytes: Vec<u64>,
    /// The levels from 1 to this one are drained.
    lowest_unnecessary: Option<usize>,
}

impl Shape {
    pub fn of(tree: &Tree, options: &Options) -> Self {
        if options.level_compaction_dynamic_level_bytes {
            Self::dynamic(tree, options)
        } else {
            let factor = options.max_bytes_for_level_multiplier;
            let mut target = options.max_bytes_for_level_base;
            let target_bytes = (0..options.num_levels)
                .map(|level| {
                    if level > 1 {
                        target = (target as f64 * factor) as u64;
                    }
                    target
                })
                .collect();
            Self { base_level: 1, target_bytes, lowest_unnecessary: None }
        }
    }

    fn dynamic(tree: &Tree, options: &Options) -> Self {
        let last = options.num_levels - 1;
        let sizes: Vec<u64> = (0..=last).map(|level| tree.level_bytes(level)).collect();
        let mut target_bytes = vec![u64::MAX; last + 1];
        let Some(first) = (1..=last).find(|&level| sizes[level] > 0) else {
            return Self { base_level: last, target_bytes, lowest_unnecessary: None };
        };
        let factor = options.max_bytes_for_level_multiplier;
        let most = options.max_bytes_for_level_base;
        let least = (most as f64 / factor) as u64;
        let mut size = sizes[1..].iter().copied().max().unwrap_or(0);
        let mut lowest_unnecessary = None;
        for level in (first..last).rev() {
            size = (size as f64 / factor) as u64;
            if options.version.drains_levels() && lowest_unnecessary.is_none() && size <= least {
                lowest_unnecessary = Some(level);
            }
        }
        let mut base_level = first;
        let base_bytes = if size <= least {
            least + 1
        } else {
            while base_level > 1 && size > most {
                base_level -= 1;
                size = (size as f64 / factor) as u64;
            }
            size.clamp(1, most)
        };
        let mut target = base_bytes as f64;
        for level_target in &mut target_bytes[base_level..] {
            *level_target = (target as u64).max(most);
            target *= factor;
        }
        Self { base_level, target_bytes, lowest_unnecessary }
    }

    /// The levels with their scores, the highest first. A level with a score of at least 1 has to
    /// be compacted.
    pub fn scores(&self, tree: &Tree, options: &Options) -> Vec<(usize, f64)> {
        let mut down = tree.level_bytes(0) as f64;
        let mut scores = vec![(0, self.score_of_level0(tree, options))];
        for level in 1..options.num_levels - 1 {
            let (idle, target) = (tree.idle_bytes(level) as f64, self.target_bytes[level] as f64);
            let mut score = if options.level_compaction_dynamic_level_bytes && idle >= target {
                idle / (target + down) * SCALE
            } else {
                idle / target
            };
            let bytes = tree.level_bytes(level) as f64;
            match self.lowest_unnecessary {
                Some(lowest) if level <= lowest => {
                    if idle > 0.0 {
                        let above = (lowest - level) as f64;
                        score = score.max(SCALE * (DRAINED + DRAINED_STEP * above));
                    }
                    down += bytes;
                }
                _ => down += (bytes - target).max(0.0),
            }
            scores.push((level, score));
        }
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        scores
    }

    fn score_of_level0(&self, tree: &Tree, options: &Options) -> f64 {
        let idle = tree.levels[0].iter().filter(|&&id| !tree.file(id).being_compacted).count();
        let bytes = tree.idle_bytes(0) as f64;
        let score = idle as f64 / options.level0_file_num_compaction_trigger as f64;
        if !options.level_compaction_dynamic_level_bytes {
            return score.max(bytes / options.max_bytes_for_level_base as f64);
        }
        let mut score = score;
        if bytes >= options.max_bytes_for_level_base as f64 {
            score = score.max(1.01);
        }
        let target = self.target_bytes[self.base_level];
        if bytes > target as f64 {
            let base = tree.level_bytes(self.base_level).max(target);
            score = score.max(bytes / base as f64);
        }
        if score > 1.0 {
            score * SCALE
        } else {
            score
        }
    }

    /// The bytes that compactions have to read and write until no level is too large.
    pub fn pending_bytes(&self, tree: &Tree, options: &Options) -> u64 {
        if options.compaction_style != Style::Level {
            return 0;
        }
        let level0 = tree.level_bytes(0);
        let triggered = tree.levels[0].len() >= options.level0_file_num_compaction_trigger
            || level0 >= options.max_bytes_for_level_base;
        let mut incoming = if triggered { level0 } else { 0 };
        let mut pending = incoming as f64;
        for level in self.base_level..options.num_levels - 1 {
            let own = tree.level_bytes(level);
            if level == self.base_level && triggered {
                pending += own as f64;
            }
            let size = own + incoming;
            incoming = size.saturating_sub(self.target_bytes[level]);
            let next = tree.level_bytes(level + 1);
            if incoming > 0 && next > 0 {
                pending += incoming as f64 * (next as f64 / size as f64 + 1.0);
            }
        }
        pending as u64
    }
}
