//! Why a run comes to nothing.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It never ends: writes are stopped, or the flush behind them waits, and nothing runs.
    Stuck,
    /// So many keys that were written are there no more, and were to be read.
    Lost { keys: u64 },
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stuck => {
                write!(formatter, "the run never ends: writes are stopped and no compaction can run")
            }
            Self::Lost { keys } => {
                write!(formatter, "FIFO compaction dropped {keys} keys that the reads need")
            }
        }
    }
}

impl std::error::Error for Failure {}
