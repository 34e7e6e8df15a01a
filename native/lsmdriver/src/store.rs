//! An open store of RocksDB: flushing, statistics, changing options, closing.

use std::ffi::{c_int, CStr};
use std::path::Path;
use std::ptr::null;

use crate::api::{
    c_text, pointers, Changing, ChangingDatabase, Closing, Compacting, Flushing, Handle,
    ListingFiles, Looking, Reporting, Texts,
};
use crate::failure::{Failure, Kind};
use crate::kinds::Operation;
use crate::log;
use crate::opening::RocksDb;
use crate::plan::{Group, Run, DEFAULT_FAMILY};
use crate::session::RocksSession;
use crate::stores::{Options, OptionsFile, Report, Sample, Session, Store, LEVELS};
use crate::usage::bytes_of;

/// The properties that count running jobs and waiting flushes.
///
/// `rocksdb.compaction-pending` is not among them. With universal compaction, RocksDB 7.8 reports
/// 1 although nothing is left to compact. `settle` finds a pending compaction by its thread.
const JOBS: [&CStr; 3] = [
    c"rocksdb.num-running-compactions",
    c"rocksdb.num-running-flushes",
    c"rocksdb.mem-table-flush-pending",
];
/// The property for the memory of open tables (`TableReader::ApproximateMemoryUsage`).
const TABLE_READERS: &CStr = c"rocksdb.estimate-table-readers-mem";
const LIVE_TABLES: &CStr = c"rocksdb.live-sst-files-size";
/// The sizes of the blob files in use. Versions before 7.1 do not have it.
const LIVE_BLOBS: &CStr = c"rocksdb.live-blob-file-size";
/// The bytes that compactions have to rewrite. With universal compaction, it is 0.
const PENDING: &CStr = c"rocksdb.estimate-pending-compaction-bytes";
const MEMTABLES: &CStr = c"rocksdb.cur-size-all-mem-tables";
/// The number of tables of a level is a text, which not every version has as a number.
const LEVEL_FILES: [&CStr; LEVELS] = [
    c"rocksdb.num-files-at-level0",
    c"rocksdb.num-files-at-level1",
    c"rocksdb.num-files-at-level2",
    c"rocksdb.num-files-at-level3",
    c"rocksdb.num-files-at-level4",
    c"rocksdb.num-files-at-level5",
    c"rocksdb.num-files-at-level6",
    c"rocksdb.num-files-at-level7",
    c"rocksdb.num-files-at-level8",
    c"rocksdb.num-files-at-level9",
];
/// The start of the names of RocksDB's threads for flushes and compactions.
const THREADS: &[u8] = b"rocksdb:";

impl RocksDb {
    /// The value of a property of each family. None if a family does not have the property.
    fn numbers(&self, name: &CStr) -> Result<Option<Vec<u64>>, Failure> {
        let looking = Looking::of(&self.library)?;
        let number = |&family: &Handle| {
            let mut value = 0;
            // SAFETY: as in `RocksDb::open`.
            let refused =
                unsafe { (looking.property_int_cf)(self.db, family, name.as_ptr(), &mut value) };
            (refused == 0).then_some(value)
        };
        Ok(self.families.values().map(number).collect())
    }

    /// The sum of a property over all families, 0 if the version does not have it.
    fn sum(&self, name: &CStr) -> Result<u64, Failure> {
        Ok(self.numbers(name)?.map_or(0, |numbers| numbers.iter().sum()))
    }

    /// The sizes of the blob files in use. In a version without the property, those of all blob
    /// files in the folder, which RocksDB deletes soon after their last use.
    fn live_blobs(&self) -> Result<u64, Failure> {
        match self.numbers(LIVE_BLOBS)? {
            Some(numbers) => Ok(numbers.iter().sum()),
            None => bytes_of(self.folder(), |path| path.extension().is_some_and(|e| e == "blob")),
        }
    }

    /// A property of a family as text. None if the family does not have it.
    fn text(&self, family: Handle, name: &CStr) -> Result<Option<String>, Failure> {
        let reporting = Reporting::of(&self.library)?;
        // SAFETY: as in `RocksDb::open`; the text belongs to the caller.
        Ok(unsafe {
            self.freeing.take((reporting.property_value_cf)(self.db, family, name.as_ptr()))
        })
    }

    /// The number, the level and the bytes of each table.
    fn live_files(&self) -> Result<Vec<(u64, i32, u64)>, Failure> {
        let listing = ListingFiles::of(&self.library)?;
        // SAFETY: as in `RocksDb::open`; the names belong to the list, and nothing uses it
        // after its end.
        unsafe {
            let list = (listing.livefiles)(self.db);
            let files = (0..(listing.livefiles_count)(list)).map(|place| {
                let name = CStr::from_ptr((listing.livefiles_name)(list, place));
                let level = (listing.livefiles_level)(list, place);
                (number_of(name), level, (listing.livefiles_size)(list, place) as u64)
            });
            let files = files.collect();
            (listing.livefiles_destroy)(list);
            Ok(files)
        }
    }
}

impl Store for RocksDb {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn version(&self) -> Option<String> {
        log::version(&self.folder)
    }

    fn options_file(&self) -> Result<Option<OptionsFile>, Failure> {
        self.newest_options().map(Some)
    }

    fn session<'a>(
        &'a self,
        run: &Run,
        group: &Group,
        kinds: &[Operation],
    ) -> Result<Box<dyn Session + 'a>, Failure> {
        Ok(Box::new(RocksSession::new(self, run, group, kinds)?))
    }

    fn flush(&self) -> Result<(), Failure> {
        let flushing = Flushing::of(&self.library)?;
        // SAFETY: as in `RocksDb::open`.
        let options = unsafe { (flushing.flushoptions_create)() };
        self.families.values().try_for_each(|&family| {
            // SAFETY: as in `RocksDb::open`.
            self.freeing.failing("flush", |error| unsafe {
                (flushing.flush_cf)(self.db, options, family, error);
            })
        })
    }

    fn compact(&self) -> Result<(), Failure> {
        // `kForce`: also tables that are in the last level already (include/rocksdb/options.h).
        const FORCE: u8 = 2;
        let compacting = Compacting::of(&self.library)?;
        // SAFETY: as in `RocksDb::open`. Without keys, the range is the whole family.
        unsafe {
            let options = (compacting.compactoptions_create)();
            (compacting.compactoptions_set_bottommost_level_compaction)(options, FORCE);
            for &family in self.families.values() {
                let (first, last) = (null(), null());
                (compacting.compact_range_cf_opt)(self.db, family, options, first, 0, last, 0);
            }
        }
        Ok(())
    }

    fn running(&self) -> Result<Option<bool>, Failure> {
        let mut running = false;
        for name in JOBS {
            match self.numbers(name)? {
                Some(counts) => running |= counts.iter().any(|&count| count > 0),
                None => return Ok(None),
            }
        }
        Ok(Some(running))
    }

    fn threads(&self) -> &'static [u8] {
        THREADS
    }

    fn report(&self) -> Result<Report, Failure> {
        let reporting = Reporting::of(&self.library)?;
        let none = || Kind::Operation.because("the store has no statistics");
        let property = |family, name| self.text(family, name)?.ok_or_else(none);
        // SAFETY: as in `RocksDb::open`; the text belongs to the caller.
        let statistics =
            unsafe { self.freeing.take((reporting.options_statistics_get_string)(self.options)) };
        Ok(Report {
            statistics: statistics.unwrap_or_default(),
            tables: self
                .families
                .iter()
                .map(|(name, &family)| Ok((name.clone(), property(family, c"rocksdb.cfstats")?)))
                .collect::<Result<_, Failure>>()?,
            database: property(self.family(DEFAULT_FAMILY)?, c"rocksdb.dbstats")?,
            table_readers_bytes: self.numbers(TABLE_READERS)?.map(|sizes| sizes.iter().sum()),
            live_files: Some(self.live_files()?),
            live_blob_bytes: Some(self.live_blobs()?),
            pending_bytes: Some(self.sum(PENDING)?),
        })
    }

    fn sample(&self) -> Result<Sample, Failure> {
        let mut level_files = [0; LEVELS];
        for (count, name) in level_files.iter_mut().zip(LEVEL_FILES) {
            for &family in self.families.values() {
                // A family may have fewer levels.
                let text = self.text(family, name)?;
                *count += text.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
            }
        }
        Ok(Sample {
            level_files,
            live_sst_bytes: self.sum(LIVE_TABLES)?,
            live_blob_bytes: self.live_blobs()?,
            pending_bytes: self.sum(PENDING)?,
            memtable_bytes: self.sum(MEMTABLES)?,
        })
    }

    fn change(&self, family: &str, options: &Options) -> Result<(), Failure> {
        let (family, changing) = (self.family(family)?, Changing::of(&self.library)?);
        with_pairs(options, |count, keys, values| {
            // SAFETY: as in `RocksDb::open`; both lists have `count` texts.
            self.freeing.failing("change", |error| unsafe {
                (changing.set_options_cf)(self.db, family, count, keys, values, error);
            })
        })
    }

    fn change_database(&self, options: &Options) -> Result<(), Failure> {
        let changing = ChangingDatabase::of(&self.library)?;
        with_pairs(options, |count, keys, values| {
            // SAFETY: as in `change`.
            self.freeing.failing("change_database", |error| unsafe {
                (changing.set_db_options)(self.db, count, keys, values, error);
            })
        })
    }

    fn close(&self) -> Result<(), Failure> {
        let closing = Closing::of(&self.library)?;
        // SAFETY: as in `RocksDb::open`; the store is not used again.
        unsafe {
            self.families.values().for_each(|&one| (closing.column_family_handle_destroy)(one));
            (closing.close)(self.db);
        }
        Ok(())
    }
}

/// Make a call with the number of the options, their keys and their values.
fn with_pairs(
    options: &Options,
    call: impl FnOnce(c_int, Texts, Texts) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let texts = |all: Vec<&String>| {
        let texts = all.into_iter().map(|text| c_text(text.as_bytes(), "options"));
        texts.collect::<Result<Vec<_>, _>>()
    };
    let (keys, values) = (texts(options.keys().collect())?, texts(options.values().collect())?);
    call(keys.len() as c_int, pointers(&keys).as_ptr(), pointers(&values).as_ptr())
}

/// The number of a table, by its name: 12 for `/000012.sst`.
fn number_of(name: &CStr) -> u64 {
    let digits = name.to_bytes().iter().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}
