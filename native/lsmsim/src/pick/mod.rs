//! Which compaction is to run next.

mod fifo;
mod level;
mod universal;

use crate::compaction::Compaction;
use crate::options::{Options, Style};
use crate::shape::Shape;
use crate::tree::{FileId, Range, Tree};

pub use level::Cursors;

/// Running compactions: start level, output level and range of keys of each.
#[derive(Clone, Debug, Default)]
pub struct Running(Vec<(usize, usize, Range)>);

impl Running {
    pub fn add(&mut self, compaction: &Compaction) {
        self.0.push((compaction.start_level(), compaction.output_level, compaction.range));
    }

    pub fn remove(&mut self, compaction: &Compaction) {
        let of = (compaction.start_level(), compaction.output_level, compaction.range);
        if let Some(place) = self.0.iter().position(|&other| other == of) {
            self.0.swap_remove(place);
        }
    }

    /// Whether a compaction reads from level 0. RocksDB never starts a second one to the base
    /// level.
    fn takes_level0(&self) -> bool {
        self.0.iter().any(|&(start, _, _)| start == 0)
    }

    /// Whether a compaction writes keys of this range into the level.
    fn writes(&self, level: usize, range: &Range) -> bool {
        self.0.iter().any(|(_, output, other)| *output == level && other.overlaps(range))
    }
}

/// The next compaction. None if nothing has to be compacted, or if it is being compacted.
pub fn pick(
    tree: &Tree,
    shape: &Shape,
    options: &Options,
    running: &Running,
    cursors: &mut Cursors,
) -> Option<Compaction> {
    match options.compaction_style {
        Style::Level => level::pick(tree, shape, options, running, cursors),
        Style::Universal => universal::pick(tree, options),
        Style::Fifo => fifo::pick(tree, options, running),
    }
}

/// The newest files of level 0. A file is added as long as this lowers the bytes to merge per file
/// that the merge removes.
///
/// None if these are fewer than `least` files, or if the bytes per removed file are not below
/// `most_bytes`: `FindIntraL0Compaction` in db/compaction/compaction_picker.cc.
fn newest_of_level0(
    tree: &Tree,
    options: &Options,
    least: usize,
    most_bytes: u64,
) -> Option<Vec<FileId>> {
    let files = &tree.levels[0];
    let newest = tree.file(*files.first()?);
    if newest.being_compacted {
        return None;
    }
    let mut bytes = newest.bytes;
    let mut per_file = u64::MAX;
    let mut count = 1;
    for &id in &files[1..] {
        bytes += tree.file(id).bytes;
        let cost = bytes / count as u64;
        let stops = tree.file(id).being_compacted
            || cost > per_file
            || bytes > options.max_compaction_bytes;
        if stops {
            break;
        }
        per_file = cost;
        count += 1;
    }
    (count >= least && per_file < most_bytes).then(|| files[..count].to_vec())
}
