//! Failures: why a plan was not carried out.

use serde::Serialize;

/// The kind of a failure, and one sentence about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The plan cannot be read, or asks for something impossible.
    Plan,
    /// The file is not a library, or lacks a function.
    Library,
    /// The store refuses the options, or cannot be opened.
    Open,
    /// The store reports an error of an operation.
    Operation,
    /// A get returns something that was never written, or does not find what was written.
    Wrong,
    /// The store was still at work at the end of the time for settling.
    Restless,
}

impl Kind {
    pub(crate) fn because(self, message: impl Into<String>) -> Failure {
        Failure { kind: self, message: message.into() }
    }
}
