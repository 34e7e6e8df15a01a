//! Why a plan was not carried out.

use serde::Serialize;

/// What went wrong, in one sentence, and of which kind it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
}

/// Where it went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The plan cannot be read, or asks for something impossible.
    Plan,
    /// The file is no library, or lacks a function.
    Library,
    /// RocksDB refuses the options, or does not open the store.
    Open,
    /// RocksDB reports an error of an operation.
    Operation,
    /// An operation gives what was never written.
    Wrong,
    /// The store was still at work at the end of the time for settling.
    Restless,
}

impl Kind {
    pub(crate) fn because(self, message: impl Into<String>) -> Failure {
        Failure { kind: self, message: message.into() }
    }
}
