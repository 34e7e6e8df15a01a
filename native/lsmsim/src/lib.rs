//! A discrete-event simulator of RocksDB: the run of a load on a store, predicted in milliseconds.
//!
//! It takes a load, the options of the store and the constants of a machine, and gives the
//! measurement that the real run would give. Keys are real: every file holds those of a sample, so
//! that merging drops overwritten records as the tree does. Time is that of a machine whose cores
//! and device the writer, flushes and compactions share, so that queues of level 0 and stalls come
//! out of it, and with them the write amplification, which hangs on both.

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
pub use recording::{record, FileTold, Frame, JobTold, Recording};
pub use run::{observe, simulate, Moment, Trial};
pub use version::Version;
