//! What the stores have in common: RocksDB, LevelDB and LMDB. Clients see no other difference.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::engine::Engine;
use crate::failure::{Failure, Kind};
use crate::kinds::Operation;
use crate::leveldb::LevelDb;
use crate::lmdb::Lmdb;
use crate::plan::{Group, Plan, Run};
use crate::session::{Owned, Pinned};
use crate::store::{OptionsFile, RocksDb};

/// An open store. What not all stores have fails or says nothing, unless a store has it.
pub trait Store: Sync {
    fn folder(&self) -> &Path;

    /// The version of the library; None where nothing tells it.
    fn version(&self) -> Option<String>;

    /// The options that the store has written last; None for a store that writes none.
    fn options_file(&self) -> Result<Option<OptionsFile>, Failure> {
        Ok(None)
    }

    /// What the clients of a group need for these kinds of operations. The failure names what the
    /// library or the store lacks.
    fn session<'a>(
        &'a self,
        run: &Run,
        group: &Group,
        kinds: &[Operation],
    ) -> Result<Box<dyn Session + 'a>, Failure>;

    /// Write what is in memory into tables.
    fn flush(&self) -> Result<(), Failure> {
        Err(lacks("flush"))
    }

    /// Whether a job runs; None where the store does not tell.
    fn running(&self) -> Result<Option<bool>, Failure> {
        Ok(None)
    }

    /// Whether it writes a LOG of its jobs.
    fn logs(&self) -> bool {
        true
    }

    /// How the names of its threads for jobs begin.
    fn threads(&self) -> &'static [u8] {
        b""
    }

    fn report(&self) -> Result<Report, Failure>;

    /// Change options of a family while the store is open.
    fn change(&self, _family: &str, _options: &Options) -> Result<(), Failure> {
        Err(lacks("change"))
    }

    /// Change options of the database while it is open.
    fn change_database(&self, _options: &Options) -> Result<(), Failure> {
        Err(lacks("change_database"))
    }

    /// Close the store. Waits for jobs that run. It must not be used again.
    fn close(&self) -> Result<(), Failure>;
}

/// The operations of the clients of a group, which share it. A plan is checked before: so the
/// operations that not all stores have are called only where a store has them.
pub trait Session: Sync {
    /// What the thread of a client does first.
    fn begin(&self) {}

    /// Whether merges append to values.
    fn appends(&self) -> bool {
        false
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure>;

    fn delete(&self, key: &[u8]) -> Result<(), Failure>;

    /// The value of a key; None without one.
    fn get(&self, key: &[u8]) -> Result<Option<Found<'_>>, Failure>;

    /// Read at most `length` records, from a key on. Return how many were read.
    fn scan(&self, key: &[u8], length: u64, backward: bool) -> Result<u64, Failure>;

    fn merge(&self, _key: &[u8], _value: &[u8]) -> Result<(), Failure> {
        Err(lacks("merge"))
    }

    fn single_delete(&self, _key: &[u8]) -> Result<(), Failure> {
        Err(lacks("single_delete"))
    }

    /// Delete all keys from one on, below another one.
    fn delete_range(&self, _first: &[u8], _end: &[u8]) -> Result<(), Failure> {
        Err(lacks("range_delete"))
    }

    /// The values of some keys, in their order; None for a key without one.
    fn multi_get(&self, _keys: &[Vec<u8>]) -> Result<Vec<Option<Found<'_>>>, Failure> {
        Err(lacks("multi_get"))
    }
}

/// Options by their keys.
pub type Options = BTreeMap<String, String>;

/// What a store tells since it was opened.
#[derive(Serialize)]
pub struct Report {
    /// All tickers and histograms, of all families together; empty if it has none.
    pub statistics: String,
    /// The table of each family: `rocksdb.cfstats`, or `leveldb.stats`.
    pub tables: BTreeMap<String, String>,
    /// `rocksdb.dbstats`, or the numbers of LMDB's tree.
    pub database: String,
}

/// A value that was read.
pub enum Found<'a> {
    /// The store keeps it as long as it is used.
    Pinned(Pinned<'a>),
    /// A copy that the store made.
    Owned(Owned),
    /// A copy that the driver made.
    Copied(Vec<u8>),
}

impl Found<'_> {
    pub fn value(&self) -> &[u8] {
        match self {
            Self::Pinned(value) => value.value(),
            Self::Owned(value) => value.value(),
            Self::Copied(value) => value,
        }
    }
}

/// Open the store of a plan: a new one, or an existing one where the plan says so.
pub fn open(plan: &Plan) -> Result<Box<dyn Store>, Failure> {
    Ok(match plan.engine {
        Engine::Rocksdb => Box::new(RocksDb::open(plan)?),
        Engine::Leveldb => Box::new(LevelDb::open(plan)?),
        Engine::Lmdb => Box::new(Lmdb::open(plan)?),
    })
}

fn lacks(what: &str) -> Failure {
    Kind::Plan.because(format!("{what}: this kind of store has none"))
}
