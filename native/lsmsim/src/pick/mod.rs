//! Which compaction is to run next.

mod fifo;
mod level;
mod universal;

use crate::compaction::Compaction;
use crate::options::{Options, Style};
use crate::shape::Shape;
use crate::tree::{Range, Tree};

pub use level::Cursors;

/// Compactions that run, by where they write.
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

    /// Whether one reads from level 0: there is never a second one to the base level.
    fn takes_level0(&self) -> bool {
        self.0.iter().any(|&(start, _, _)| start == 0)
    }

    /// Whether one writes keys of this range into the level.
    fn writes(&self, level: usize, range: &Range) -> bool {
        self.0.iter().any(|(_, output, other)| *output == level && other.overlaps(range))
    }
}

/// The next compaction; None while nothing has to be done, or what has to is being done.
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
        Style::Fifo => fifo::pick(tree, options),
    }
}
