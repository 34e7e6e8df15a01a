//! The interface of all stores: RocksDB, LevelDB and LMDB.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::blocks::Blocks;
use crate::failure::{Failure, Kind};
use crate::found::Found;
use crate::kinds::Operation;
use crate::plan::{Group, Run};

/// An open store.
///
/// Functions that not every store has are written here: they fail or return None. A store that has
/// such a function replaces it.
pub trait Store: Sync {
    fn folder(&self) -> &Path;

    /// The version of the library. None if it is unknown.
    fn version(&self) -> Option<String>;

    /// The newest options that the store has written. None for a store that writes none.
    fn options_file(&self) -> Result<Option<OptionsFile>, Failure> {
        Ok(None)
    }

    /// The functions that the clients of a group need for these kinds of operations. The failure
    /// names what the library or the store lacks.
    fn session<'a>(
        &'a self,
        run: &Run,
        group: &Group,
        kinds: &[Operation],
    ) -> Result<Box<dyn Session + 'a>, Failure>;

    /// Write the memtables into tables.
    fn flush(&self) -> Result<(), Failure> {
        Err(lacks("flush"))
    }

    /// Rewrite all tables with the options of the store.
    fn compact(&self) -> Result<(), Failure> {
        Err(lacks("compact"))
    }

    /// Whether a job runs. None if the store has no properties for this.
    fn running(&self) -> Result<Option<bool>, Failure> {
        Ok(None)
    }

    /// Whether it writes a LOG of its jobs.
    fn logs(&self) -> bool {
        true
    }

    /// The start of the names of the threads for jobs.
    fn threads(&self) -> &'static [u8] {
        b""
    }

    /// What the store does at one moment.
    fn sample(&self) -> Result<Sample, Failure> {
        Err(lacks("sample_ms"))
    }

    /// The statistics since the store was opened.
    fn report(&self) -> Result<Report, Failure>;

    /// Change options of a family while the store is open.
    fn change(&self, _family: &str, _options: &Options) -> Result<(), Failure> {
        Err(lacks("change"))
    }

    /// Change options of the database while it is open.
    fn change_database(&self, _options: &Options) -> Result<(), Failure> {
        Err(lacks("change_database"))
    }

    /// Close the store. This waits for running jobs. The store must not be used again.
    fn close(&self) -> Result<(), Failure>;
}

/// The operations of a group. Its clients share one session.
///
/// Operations that not every store has fail here. The check of the plan (`engine::check`) refuses
/// them before.
pub trait Session: Sync {
    /// Prepare the thread of a client.
    fn begin(&self) {}

    /// The blocks that this thread has read since `begin`. None if they are not counted.
    fn end(&self) -> Option<Blocks> {
        None
    }

    /// Whether merges append to values.
    fn appends(&self) -> bool {
        false
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure>;

    fn delete(&self, key: &[u8]) -> Result<(), Failure>;

    /// The value of a key. None if the key has none.
    fn get(&self, key: &[u8]) -> Result<Option<Found<'_>>, Failure>;

    /// Read at most `length` records, starting at a key. Return the number of records.
    fn scan(&self, key: &[u8], length: u64, backward: bool) -> Result<u64, Failure>;

    fn merge(&self, _key: &[u8], _value: &[u8]) -> Result<(), Failure> {
        Err(lacks("merge"))
    }

    fn single_delete(&self, _key: &[u8]) -> Result<(), Failure> {
        Err(lacks("single_delete"))
    }

    /// Delete all keys from `first` on, up to but without `end`.
    fn delete_range(&self, _first: &[u8], _end: &[u8]) -> Result<(), Failure> {
        Err(lacks("range_delete"))
    }

    /// The values of some keys, in their order. None for a key that has none.
    fn multi_get(&self, _keys: &[Vec<u8>]) -> Result<Vec<Option<Found<'_>>>, Failure> {
        Err(lacks("multi_get"))
    }
}

/// Options by their keys.
pub type Options = BTreeMap<String, String>;

/// The newest file of options that RocksDB has written.
#[derive(Serialize)]
pub struct OptionsFile {
    #[serde(rename = "options_file")]
    pub name: String,
    #[serde(rename = "options")]
    pub text: String,
}

/// The statistics of a store since it was opened.
#[derive(Default, Serialize)]
pub struct Report {
    /// All tickers and histograms, for all families together. Empty if the store has none.
    pub statistics: String,
    /// The table of each family: `rocksdb.cfstats`, or `leveldb.stats`.
    pub tables: BTreeMap<String, String>,
    /// `rocksdb.dbstats`, or the numbers of LMDB's tree.
    pub database: String,
    /// The memory of open tables outside the block cache, mostly of their indexes and filters, for
    /// all families together. None for a store without this property.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table_readers_bytes: Option<u64>,
    /// The number, the level and the bytes of each table, only RocksDB. So are the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_files: Option<Vec<(u64, i32, u64)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live_blob_bytes: Option<u64>,
    /// The estimated bytes that compactions have to rewrite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_bytes: Option<u64>,
}

/// The largest number of levels of a sample. Stores have 7 by default.
pub const LEVELS: usize = 10;

/// A store at one moment, with all its families together.
pub struct Sample {
    pub level_files: [u64; LEVELS],
    pub live_sst_bytes: u64,
    pub live_blob_bytes: u64,
    /// The estimated bytes that compactions have to rewrite.
    pub pending_bytes: u64,
    pub memtable_bytes: u64,
}

fn lacks(what: &str) -> Failure {
    Kind::Plan.because(format!("{what}: only the engine rocksdb has it"))
}
