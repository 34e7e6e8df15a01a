//! The operations of clients on a store of RocksDB.

use std::ffi::c_char;
use std::ptr::null_mut;

use crate::api::{
    parts, Batching, Counted, Counting, Deleting, Error, Freeing, Getting, Handle, Library,
    Merging, MultiGetting, RangeDeleting, ReadOptions, Scanning, ScanningBackward, SingleDeleting,
    WriteOptions, Writing,
};
use crate::blocks::Blocks;
use crate::failure::{Failure, Kind};
use crate::found::{Found, Owned, Pinned};
use crate::kinds::Operation;
use crate::opening::RocksDb;
use crate::plan::{Group, Run};
use crate::stores::Session;

/// The merge operator that appends a comma and a value, as an OPTIONS file names it.
const APPENDS: &str = "{id=StringAppendOperator;delimiter=,;}";

/// `rocksdb_put_cf` or `rocksdb_merge_cf`.
type WriteRecord =
    unsafe extern "C" fn(Handle, Handle, Handle, *const c_char, usize, *const c_char, usize, Error);

/// The functions for some kinds of operations, with their options. All clients of a group share
/// one session.
pub struct RocksSession<'a> {
    store: &'a RocksDb,
    family: Handle,
    functions: Functions,
    freeing: Freeing,
    counting: Counting,
    /// The functions that read the counts of blocks, if the group counts them.
    counted: Option<Counted>,
    write_options: Handle,
    get_options: Handle,
    scan_options: Handle,
    /// Whether merges append to values.
    appends: bool,
}

#[derive(Default)]
struct Functions {
    writing: Option<Writing>,
    merging: Option<Merging>,
    deleting: Option<Deleting>,
    batching: Option<Batching>,
    single_deleting: Option<SingleDeleting>,
    range_deleting: Option<RangeDeleting>,
    getting: Option<Getting>,
    multi_getting: Option<MultiGetting>,
    scanning: Option<Scanning>,
    scanning_backward: Option<ScanningBackward>,
}

const ASKED: &str = "the session has the functions of all operations of its group";

impl<'a> RocksSession<'a> {
    /// Look up the functions for these kinds of operations of a group. The failure names the
    /// function that the library lacks, or the option that the store lacks.
    pub fn new(
        store: &'a RocksDb,
        run: &Run,
        group: &Group,
        kinds: &[Operation],
    ) -> Result<Self, Failure> {
        let library = &store.library;
        let appends = appends(&store.newest_options()?.text, &group.family);
        let mut functions = Functions::default();
        for &kind in kinds {
            if kind == Operation::Merge && !appends {
                return Err(
                    Kind::Plan.because("merge: needs the option merge_operator=stringappend")
                );
            }
            functions.find(library, kind)?;
        }
        let (writing, reading) = (WriteOptions::of(library)?, ReadOptions::of(library)?);
        // SAFETY: as in `RocksDb::open`.
        unsafe {
            let session = Self {
                store,
                family: store.family(&group.family)?,
                functions,
                freeing: store.freeing,
                counting: Counting::of(library)?,
                counted: group.count_blocks.then(|| Counted::of(library)).transpose()?,
                write_options: (writing.writeoptions_create)(),
                get_options: (reading.readoptions_create)(),
                scan_options: (reading.readoptions_create)(),
                appends,
            };
            (writing.writeoptions_set_sync)(session.write_options, run.sync.into());
            (writing.writeoptions_disable_WAL)(session.write_options, run.disable_wal.into());
            // A scan may pass from one prefix to the next.
            (reading.readoptions_set_total_order_seek)(session.scan_options, 1);
            Ok(session)
        }
    }

    /// Write a record with one of the functions that take a key and a value.
    fn write_record(
        &self,
        operation: &str,
        write: WriteRecord,
        key: &[u8],
        value: &[u8],
    ) -> Result<(), Failure> {
        let (db, options, family) = (self.store.db, self.write_options, self.family);
        let ((key, key_size), (value, size)) = (parts(key), parts(value));
        // SAFETY: as in `RocksDb::open`; the library reads key and value only during the call.
        self.freeing.failing(operation, |error| unsafe {
            write(db, options, family, key, key_size, value, size, error);
        })
    }

    /// Write a batch. `fill` adds the operation to the batch.
    fn write_batch(&self, operation: &str, fill: impl FnOnce(Handle)) -> Result<(), Failure> {
        let batching = self.functions.batching.expect(ASKED);
        // SAFETY: as in `RocksDb::open`; the batch is not used again.
        unsafe {
            let batch = (batching.writebatch_create)();
            fill(batch);
            let written = self.freeing.failing(operation, |error| {
                (batching.write)(self.store.db, self.write_options, batch, error);
            });
            (batching.writebatch_destroy)(batch);
            written
        }
    }
}

impl Session for RocksSession<'_> {
    fn begin(&self) {
        let Some(counted) = self.counted else { return self.counting.count_nothing() };
        self.counting.count();
        // SAFETY: as in `RocksDb::open`; the handle stands for the counts of this thread.
        unsafe {
            let counts = (counted.perfcontext_create)();
            (counted.perfcontext_reset)(counts);
            (counted.perfcontext_destroy)(counts);
        }
    }

    fn end(&self) -> Option<Blocks> {
        let counted = self.counted?;
        // SAFETY: as above; the text belongs to the caller.
        let text = unsafe {
            let counts = (counted.perfcontext_create)();
            let text = (counted.perfcontext_report)(counts, 1);
            (counted.perfcontext_destroy)(counts);
            self.freeing.take(text)
        };
        Some(Blocks::read(&text.unwrap_or_default()))
    }

    fn appends(&self) -> bool {
        self.appends
    }

    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        self.write_record("put", self.functions.writing.expect(ASKED).put_cf, key, value)
    }

    fn merge(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        self.write_record("merge", self.functions.merging.expect(ASKED).merge_cf, key, value)
    }

    fn delete(&self, key: &[u8]) -> Result<(), Failure> {
        let (deleting, (key, size)) = (self.functions.deleting.expect(ASKED), parts(key));
        let (db, options) = (self.store.db, self.write_options);
        // SAFETY: as in `RocksDb::open`; the library reads the key only during the call.
        self.freeing.failing("delete", |error| unsafe {
            (deleting.delete_cf)(db, options, self.family, key, size, error);
        })
    }

    fn single_delete(&self, key: &[u8]) -> Result<(), Failure> {
        let (deleting, (key, size)) = (self.functions.single_deleting.expect(ASKED), parts(key));
        // SAFETY: as in `RocksDb::open`; the batch copies the key.
        self.write_batch("single_delete", |batch| unsafe {
            (deleting.writebatch_singledelete_cf)(batch, self.family, key, size);
        })
    }

    fn delete_range(&self, first: &[u8], end: &[u8]) -> Result<(), Failure> {
        let deleting = self.functions.range_deleting.expect(ASKED);
        let (family, (first, size), (end, end_size)) = (self.family, parts(first), parts(end));
        // SAFETY: as in `RocksDb::open`; the batch copies the keys.
        self.write_batch("range_delete", |batch| unsafe {
            (deleting.writebatch_delete_range_cf)(batch, family, first, size, end, end_size);
        })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Found<'_>>, Failure> {
        let getting = self.functions.getting.as_ref().expect(ASKED);
        let (db, options, (key, size)) = (self.store.db, self.get_options, parts(key));
        // SAFETY: as in `RocksDb::open`; the library reads the key only during the call.
        let found = self.freeing.failing("get", |error| unsafe {
            (getting.get_pinned_cf)(db, options, self.family, key, size, error)
        })?;
        Ok((!found.is_null()).then_some(Found::Pinned(Pinned { getting, found })))
    }

    fn multi_get(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Found<'_>>>, Failure> {
        let getting = self.functions.multi_getting.as_ref().expect(ASKED);
        let starts: Vec<*const c_char> = keys.iter().map(|key| key.as_ptr().cast()).collect();
        let sizes: Vec<usize> = keys.iter().map(Vec::len).collect();
        let families = vec![self.family; keys.len()];
        let mut values = vec![null_mut(); keys.len()];
        let mut value_sizes = vec![0; keys.len()];
        let mut errors = vec![null_mut(); keys.len()];
        // SAFETY: as in `RocksDb::open`; all lists are as long as `keys` and outlive the call.
        unsafe {
            (getting.multi_get_cf)(
                self.store.db,
                self.get_options,
                families.as_ptr(),
                keys.len(),
                starts.as_ptr(),
                sizes.as_ptr(),
                values.as_mut_ptr(),
                value_sizes.as_mut_ptr(),
                errors.as_mut_ptr(),
            );
        }
        let values = values.into_iter().zip(value_sizes).map(|(start, size)| {
            (!start.is_null()).then_some(Found::Owned(Owned { freeing: self.freeing, start, size }))
        });
        let values = values.collect();
        for error in errors {
            // SAFETY: `failing` gives a place for one text.
            self.freeing.failing("multi_get", |place: Error| unsafe { *place = error })?;
        }
        Ok(values)
    }

    fn scan(&self, key: &[u8], length: u64, backward: bool) -> Result<u64, Failure> {
        let scanning = self.functions.scanning.expect(ASKED);
        let (seek, step) = if backward {
            let scanning = self.functions.scanning_backward.expect(ASKED);
            (scanning.iter_seek_for_prev, scanning.iter_prev)
        } else {
            (scanning.iter_seek, scanning.iter_next)
        };
        let ((key, key_size), mut records, mut size) = (parts(key), 0, 0);
        // SAFETY: as in `RocksDb::open`.
        unsafe {
            let iterator =
                (scanning.create_iterator_cf)(self.store.db, self.scan_options, self.family);
            seek(iterator, key, key_size);
            while records < length && (scanning.iter_valid)(iterator) != 0 {
                (scanning.iter_key)(iterator, &mut size);
                (scanning.iter_value)(iterator, &mut size);
                records += 1;
                step(iterator);
            }
            let end =
                self.freeing.failing("scan", |error| (scanning.iter_get_error)(iterator, error));
            (scanning.iter_destroy)(iterator);
            end.map(|()| records)
        }
    }
}

impl Functions {
    /// Look up the functions for a kind of operation.
    fn find(&mut self, library: &Library, kind: Operation) -> Result<(), Failure> {
        match kind {
            Operation::Put => self.writing = Some(Writing::of(library)?),
            Operation::Get | Operation::GetMissing => self.getting = Some(Getting::of(library)?),
            Operation::ReadModifyWrite => {
                self.writing = Some(Writing::of(library)?);
                self.getting = Some(Getting::of(library)?);
            }
            Operation::MultiGet => self.multi_getting = Some(MultiGetting::of(library)?),
            Operation::Merge => self.merging = Some(Merging::of(library)?),
            Operation::Delete => self.deleting = Some(Deleting::of(library)?),
            Operation::SingleDelete => {
                self.batching = Some(Batching::of(library)?);
                self.single_deleting = Some(SingleDeleting::of(library)?);
            }
            Operation::RangeDelete => {
                self.batching = Some(Batching::of(library)?);
                self.range_deleting = Some(RangeDeleting::of(library)?);
            }
            Operation::Scan => self.scanning = Some(Scanning::of(library)?),
            Operation::ScanBackward => {
                self.scanning = Some(Scanning::of(library)?);
                self.scanning_backward = Some(ScanningBackward::of(library)?);
            }
        }
        Ok(())
    }
}

/// Whether the merges of a family append, by the text of an OPTIONS file.
fn appends(options: &str, family: &str) -> bool {
    let head = format!("[CFOptions \"{family}\"]");
    let lines = options.lines().map(str::trim);
    let section = lines.skip_while(|&line| line != head).skip(1);
    section.take_while(|line| !line.starts_with('[')).any(|line| {
        // A store with a time to live wraps the operator in one of its own.
        line.starts_with("merge_operator=") && line.contains(APPENDS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_merge_operator_is_that_of_the_family() {
        let options = format!(
            "[DBOptions]\n  a=1\n\n[CFOptions \"default\"]\n  merge_operator=nullptr\n  b=1\n\n\
             [TableOptions/BlockBasedTable \"default\"]\n  c=1\n\n\
             [CFOptions \"other\"]\n  merge_operator={APPENDS}\n",
        );
        assert!(!appends(&options, "default"));
        assert!(appends(&options, "other"));
        assert!(!appends(&options, "none"));
    }
}
