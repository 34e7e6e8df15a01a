//! A discrete-event simulator of RocksDB: the run of a load on a store, predicted in milliseconds.
//!
//! It takes a load, the options of the store and the constants of a machine, and predicts the
//! measurement of the real run. Keys are real: each file contains the keys of a sample, so merging
//! drops overwritten records as RocksDB does. The writer, flushes and compactions share the cores
//! and the device of the machine. So stalls and the number of files in level 0 follow from the
//! simulated times, and the write amplification depends on both.

#![forbid(unsafe_code)]

mod cache;
mod codec;
mod compaction;
mod controller;
mod cost;
mod failure;
mod histogram;
mod jitter;
mod jobs;
mod load;
mod machine;
mod measurement;
mod memtables;
mod options;
mod pick;
#[cfg(test)]
mod properties;
mod reads;
mod recording;
mod run;
mod shape;
mod share;
mod table;
mod tree;
mod version;
#[cfg(test)]
mod version_rules;

pub use codec::Codec;
pub use failure::Failure;
pub use load::{Load, Name};
pub use machine::{CodecSpeed, Machine};
pub use measurement::Measurement;
pub use options::{Options, Priority, Style};
pub use reads::Probe;
pub use recording::{record, FileInfo, Frame, JobInfo, Recording};
pub use run::{simulate, simulate_running, Running, Trial};
pub use version::Version;
