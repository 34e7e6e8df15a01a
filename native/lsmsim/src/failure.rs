//! Reasons why a run cannot be simulated.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The run never ends: writes are stopped or wait for a flush, and nothing runs.
    Stuck,
    /// Another thread ended it.
    Stopped,
    /// FIFO compaction dropped `keys` keys that the reads need.
    Lost { keys: u64 },
    /// The store of the baseline has more levels than the config.
    TooFewLevels { levels: usize, needed: usize },
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stuck => {
                write!(formatter, "the run never ends: writes stop and no compaction runs")
            }
            Self::Stopped => write!(formatter, "the run was stopped"),
            Self::Lost { keys } => {
                write!(formatter, "FIFO compaction dropped {keys} keys that the reads need")
            }
            Self::TooFewLevels { levels, needed } => write!(
                formatter,
                "num_levels: {levels} is too small: the store of the baseline has {needed} levels"
            ),
        }
    }
}

impl std::error::Error for Failure {}
