//! A store of RocksDB: opening it with texts of options, flushing, statistics, changing options,
//! closing.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, CStr, CString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::api::{
    Changing, ChangingDatabase, Closing, Error, Flushing, Freeing, Handle, Library, ListingFiles,
    Looking, Opening, OpeningPlain, OpeningTransaction, OpeningTtl, Reporting, Texts,
};
use crate::failure::{Failure, Kind};
use crate::kinds::Operation;
use crate::log;
use crate::plan::{Group, Plan, Run, DEFAULT_FAMILY};
use crate::session::RocksSession;
use crate::settings::StoreKind;
use crate::shared::shared_options;
use crate::stores::{Options, Report, Sample, Session, Store, LEVELS};

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
/// The sizes of blob files. Versions before 7.1 do not have it.
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
];
/// The start of the names of RocksDB's threads for flushes and compactions.
const THREADS: &[u8] = b"rocksdb:";

/// An open store.
///
/// `db` may be a store with transactions or with a time to live. The functions for a plain store
/// work on them too, because each handle is a C++ object with virtual methods. So a put into a
/// store with transactions takes its locks.
pub struct RocksDb {
    pub(crate) library: Library,
    pub(crate) db: Handle,
    freeing: Freeing,
    options: Handle,
    families: BTreeMap<String, Handle>,
    folder: PathBuf,
}

/// The newest file of options that RocksDB has written.
#[derive(Serialize)]
pub struct OptionsFile {
    #[serde(rename = "options_file")]
    name: String,
    #[serde(rename = "options")]
    pub text: String,
}

impl RocksDb {
    /// Open the store of a plan: a new one, or an existing one if the plan says so.
    pub fn open(plan: &Plan) -> Result<Self, Failure> {
        let library = Library::load(&plan.library)?;
        let freeing = Freeing::of(&library)?;
        let opening = Opening::of(&library)?;
        let base = shared_options(&library, plan)?;
        let parse = |base: Handle, text: &str, place: &str| {
            let text = c_text(text.as_bytes(), place)?;
            // SAFETY: the calls follow rocksdb/c.h. All handles live as long as the process.
            unsafe {
                let options = (opening.options_create)();
                freeing.attempt(Kind::Open, place, |error| {
                    (opening.get_options_from_string)(base, text.as_ptr(), options, error)
                })?;
                Ok(options)
            }
        };
        let options = parse(base, &plan.options, "options")?;
        let mut families = vec![(DEFAULT_FAMILY, options)];
        for (name, text) in &plan.families {
            // If the plan has no block cache, each family has one of its own, as in RocksDB.
            let base = match plan.block_cache {
                Some(_) => base,
                None => unsafe { (opening.options_create)() },
            };
            families.push((name, parse(base, text, &format!("families.{name}"))?));
        }
        // SAFETY: as above.
        unsafe {
            let new = u8::from(!plan.existing);
            (opening.options_set_create_if_missing)(options, new);
            (opening.options_set_create_missing_column_families)(options, new);
            (opening.options_set_error_if_exists)(options, new);
            if plan.statistics {
                (opening.options_enable_statistics)(options);
            }
        }
        let (db, families) = open(&library, freeing, plan, options, &families)?;
        Ok(Self { library, freeing, options, db, families, folder: plan.folder.clone() })
    }

    /// The handle of a family.
    pub fn family(&self, name: &str) -> Result<Handle, Failure> {
        let missing = || Kind::Plan.because(format!("family: the plan has no family {name}"));
        self.families.get(name).copied().ok_or_else(missing)
    }

    /// The value of a property of each family. None if a family does not have the property.
    fn numbers(&self, name: &CStr) -> Result<Option<Vec<u64>>, Failure> {
        let looking = Looking::of(&self.library)?;
        let number = |&family: &Handle| {
            let mut value = 0;
            // SAFETY: as in `open`.
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

    /// A property of a family as text. None if the family does not have it.
    fn text(&self, family: Handle, name: &CStr) -> Result<Option<String>, Failure> {
        let reporting = Reporting::of(&self.library)?;
        // SAFETY: as in `open`; the text belongs to the caller.
        Ok(unsafe {
            self.freeing.take((reporting.property_value_cf)(self.db, family, name.as_ptr()))
        })
    }

    /// The number, the level and the bytes of each table.
    fn live_files(&self) -> Result<Vec<(u64, i32, u64)>, Failure> {
        let listing = ListingFiles::of(&self.library)?;
        // SAFETY: as in `open`; the list is not used after its end, and the names belong to it.
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

    /// Make a call that may fail. The failure names the operation.
    pub(crate) fn failing<T>(
        &self,
        operation: &str,
        call: impl FnOnce(Error) -> T,
    ) -> Result<T, Failure> {
        self.freeing.attempt(Kind::Operation, operation, call)
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
        let folder = &self.folder;
        newest_options(folder).map(Some).map_err(|error| {
            Kind::Open.because(format!("OPTIONS file in {}: {error}", folder.display()))
        })
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
        // SAFETY: as in `open`.
        let options = unsafe { (flushing.flushoptions_create)() };
        self.families.values().try_for_each(|&family| {
            self.failing("flush", |error| unsafe {
                (flushing.flush_cf)(self.db, options, family, error);
            })
        })
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
        // SAFETY: as in `open`; the text belongs to the caller.
        let statistics = unsafe { (reporting.options_statistics_get_string)(self.options) };
        Ok(Report {
            statistics: unsafe { self.freeing.take(statistics) }.unwrap_or_default(),
            tables: self
                .families
                .iter()
                .map(|(name, &family)| Ok((name.clone(), property(family, c"rocksdb.cfstats")?)))
                .collect::<Result<_, Failure>>()?,
            database: property(self.family(DEFAULT_FAMILY)?, c"rocksdb.dbstats")?,
            table_readers_bytes: self.numbers(TABLE_READERS)?.map(|sizes| sizes.iter().sum()),
            live_files: Some(self.live_files()?),
            live_blob_bytes: Some(self.sum(LIVE_BLOBS)?),
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
            live_blob_bytes: self.sum(LIVE_BLOBS)?,
            pending_bytes: self.sum(PENDING)?,
            memtable_bytes: self.sum(MEMTABLES)?,
        })
    }

    fn change(&self, family: &str, options: &Options) -> Result<(), Failure> {
        let (family, changing) = (self.family(family)?, Changing::of(&self.library)?);
        with_pairs(options, |count, keys, values| {
            self.failing("change", |error| unsafe {
                (changing.set_options_cf)(self.db, family, count, keys, values, error);
            })
        })
    }

    fn change_database(&self, options: &Options) -> Result<(), Failure> {
        let changing = ChangingDatabase::of(&self.library)?;
        with_pairs(options, |count, keys, values| {
            self.failing("change_database", |error| unsafe {
                (changing.set_db_options)(self.db, count, keys, values, error);
            })
        })
    }

    fn close(&self) -> Result<(), Failure> {
        let closing = Closing::of(&self.library)?;
        // SAFETY: as in `open`; the store is not used again.
        unsafe {
            self.families.values().for_each(|&one| (closing.column_family_handle_destroy)(one));
            (closing.close)(self.db);
        }
        Ok(())
    }
}

/// Open a store with these families. Return the handles of the store and of its families.
fn open(
    library: &Library,
    freeing: Freeing,
    plan: &Plan,
    options: Handle,
    families: &[(&str, Handle)],
) -> Result<(Handle, BTreeMap<String, Handle>), Failure> {
    let folder = c_folder(plan)?;
    let names = families.iter().map(|(name, _)| c_text(name.as_bytes(), "families"));
    let names = names.collect::<Result<Vec<_>, _>>()?;
    let (names, count) = (pointers(&names), families.len() as c_int);
    let each: Vec<Handle> = families.iter().map(|&(_, options)| options).collect();
    let mut handles = each.clone(); // RocksDB replaces them
    let (name, names, each, opened) =
        (folder.as_ptr(), names.as_ptr(), each.as_ptr(), handles.as_mut_ptr());
    // SAFETY: as in `RocksDb::open`; all lists have `count` parts.
    let db = unsafe {
        match plan.store {
            StoreKind::Plain {} => {
                let open = OpeningPlain::of(library)?;
                freeing.attempt(Kind::Open, "open", |error| {
                    (open.open_column_families)(options, name, count, names, each, opened, error)
                })?
            }
            StoreKind::Transaction {} => {
                let open = OpeningTransaction::of(library)?;
                let of_transactions = (open.transactiondb_options_create)();
                freeing.attempt(Kind::Open, "open", |error| {
                    (open.transactiondb_open_column_families)(
                        options,
                        of_transactions,
                        name,
                        count,
                        names,
                        each,
                        opened,
                        error,
                    )
                })?
            }
            StoreKind::Ttl { seconds } => {
                let open = OpeningTtl::of(library)?;
                let seconds = vec![seconds; families.len()];
                freeing.attempt(Kind::Open, "open", |error| {
                    (open.open_column_families_with_ttl)(
                        options,
                        name,
                        count,
                        names,
                        each,
                        opened,
                        seconds.as_ptr(),
                        error,
                    )
                })?
            }
        }
    };
    Ok((db, families.iter().map(|&(name, _)| name.to_owned()).zip(handles).collect()))
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

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

/// The folder of a plan's store, for the library.
pub(crate) fn c_folder(plan: &Plan) -> Result<CString, Failure> {
    c_text(plan.folder.as_os_str().as_bytes(), "folder")
}

/// A text for the library. `place` is the place of the text in the plan.
pub(crate) fn c_text(text: &[u8], place: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| Kind::Plan.because(format!("{place}: contains a zero byte")))
}

/// The number of a table, by its name: 12 for `/000012.sst`.
fn number_of(name: &CStr) -> u64 {
    let digits = name.to_bytes().iter().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// Read the OPTIONS file with the highest number.
fn newest_options(folder: &Path) -> io::Result<OptionsFile> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let number = name.strip_prefix("OPTIONS-").and_then(|digits| digits.parse::<u64>().ok());
        found.extend(number.map(|number| (number, name)));
    }
    let (_, name) = found.into_iter().max().ok_or_else(|| io::Error::other("there is none"))?;
    let text = fs::read_to_string(folder.join(&name))?;
    Ok(OptionsFile { name, text })
}
