//! The operations of clients on a store.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::slice;

use crate::api::{
    Batching, Counting, Deleting, Error, Freeing, Getting, Handle, Library, Merging, MultiGetting,
    RangeDeleting, Scanning, ScanningBackward, SingleDeleting, Writing,
};
use crate::failure::{Failure, Kind};
use crate::kinds::Operation;
use crate::store::Store;

/// What an OPTIONS file says of the merge operator that appends a comma and a value.
const APPENDS: &str = "merge_operator={id=StringAppendOperator;delimiter=,;}";

/// Functions for some kinds of operations, with the options of each. All clients may use one.
pub struct Session<'a> {
    store: &'a Store,
    functions: Functions,
    freeing: Freeing,
    counting: Counting,
    appends: bool,
}

#[derive(Default)]
struct Functions {
    writing: Option<(Writing, Handle)>,
    deleting: Option<(Deleting, Handle)>,
    batching: Option<(Batching, Handle)>,
    single_deleting: Option<SingleDeleting>,
    range_deleting: Option<RangeDeleting>,
    merging: Option<(Merging, Handle)>,
    getting: Option<(Getting, Handle)>,
    multi_getting: Option<(MultiGetting, Handle)>,
    scanning: Option<(Scanning, Handle)>,
    scanning_backward: Option<ScanningBackward>,
}

/// The perf level `kDisable` (include/rocksdb/perf_level.h).
const NOTHING: c_int = 1;

const ASKED: &str = "the session is made for the kinds of operations that it does";

impl<'a> Session<'a> {
    /// Look up the functions for these kinds. The failure names one that the library lacks, or
    /// what the store lacks.
    pub fn new(store: &'a Store, kinds: impl Iterator<Item = Operation>) -> Result<Self, Failure> {
        let (_, options) = store.options_file()?;
        let appends = options.lines().any(|line| line.trim() == APPENDS);
        let mut functions = Functions::default();
        for kind in kinds {
            if kind == Operation::Merge && !appends {
                return Err(
                    Kind::Plan.because("merge: needs the option merge_operator=stringappend")
                );
            }
            // SAFETY: as in `Store::open`.
            unsafe { functions.find(&store.library, kind)? };
        }
        let (freeing, counting) = (Freeing::of(&store.library)?, Counting::of(&store.library)?);
        Ok(Self { store, functions, freeing, counting, appends })
    }

    /// Let RocksDB not count what this thread does, beside the statistics. Nobody reads such counts,
    /// and they take up to 5 % of the instructions of a put. db_bench leaves them out too.
    pub fn count_nothing(&self) {
        // SAFETY: as in `Store::open`.
        unsafe { (self.counting.set_perf_level)(NOTHING) };
    }

    /// Whether merges append to values.
    pub fn appends(&self) -> bool {
        self.appends
    }

    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let (writing, options) = self.functions.writing.as_ref().expect(ASKED);
        let (key, key_size) = (key.as_ptr().cast(), key.len());
        let (value, size) = (value.as_ptr().cast(), value.len());
        self.store.failing("put", |error| unsafe {
            (writing.put)(self.store.db, *options, key, key_size, value, size, error);
        })
    }

    pub fn merge(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let (merging, options) = self.functions.merging.as_ref().expect(ASKED);
        let (key, key_size) = (key.as_ptr().cast(), key.len());
        let (value, size) = (value.as_ptr().cast(), value.len());
        self.store.failing("merge", |error| unsafe {
            (merging.merge)(self.store.db, *options, key, key_size, value, size, error);
        })
    }

    pub fn delete(&self, key: &[u8]) -> Result<(), Failure> {
        let (deleting, options) = self.functions.deleting.as_ref().expect(ASKED);
        self.store.failing("delete", |error| unsafe {
            (deleting.delete)(self.store.db, *options, key.as_ptr().cast(), key.len(), error);
        })
    }

    pub fn single_delete(&self, key: &[u8]) -> Result<(), Failure> {
        let deleting = self.functions.single_deleting.as_ref().expect(ASKED);
        self.write("single_delete", |batch| unsafe {
            (deleting.writebatch_singledelete)(batch, key.as_ptr().cast(), key.len());
        })
    }

    /// Delete all keys from one on, below another one.
    pub fn delete_range(&self, first: &[u8], end: &[u8]) -> Result<(), Failure> {
        let deleting = self.functions.range_deleting.as_ref().expect(ASKED);
        let (first, first_size) = (first.as_ptr().cast(), first.len());
        let (end, end_size) = (end.as_ptr().cast(), end.len());
        self.write("range_delete", |batch| unsafe {
            (deleting.writebatch_delete_range)(batch, first, first_size, end, end_size);
        })
    }

    /// Write what is put into a batch.
    fn write(&self, operation: &str, put: impl FnOnce(Handle)) -> Result<(), Failure> {
        let (batching, options) = self.functions.batching.as_ref().expect(ASKED);
        // SAFETY: as in `Store::open`; the batch is not used again.
        unsafe {
            let batch = (batching.writebatch_create)();
            put(batch);
            let written = self.store.failing(operation, |error| {
                (batching.write)(self.store.db, *options, batch, error);
            });
            (batching.writebatch_destroy)(batch);
            written
        }
    }

    /// The value of a key, which RocksDB keeps as long as it is used; None without one.
    pub fn get(&self, key: &[u8]) -> Result<Option<Pinned<'_>>, Failure> {
        let (getting, options) = self.functions.getting.as_ref().expect(ASKED);
        let found = self.store.failing("get", |error| unsafe {
            (getting.get_pinned)(self.store.db, *options, key.as_ptr().cast(), key.len(), error)
        })?;
        Ok((!found.is_null()).then_some(Pinned { getting, found }))
    }

    /// The values of some keys, in their order; None for a key without one.
    pub fn multi_get(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Owned>>, Failure> {
        let (getting, options) = self.functions.multi_getting.as_ref().expect(ASKED);
        let starts: Vec<*const c_char> = keys.iter().map(|key| key.as_ptr().cast()).collect();
        let sizes: Vec<usize> = keys.iter().map(Vec::len).collect();
        let mut values = vec![null_mut(); keys.len()];
        let mut value_sizes = vec![0; keys.len()];
        let mut errors = vec![null_mut(); keys.len()];
        // SAFETY: as in `Store::open`; each list is as long as that of the keys.
        unsafe {
            (getting.multi_get)(
                self.store.db,
                *options,
                keys.len(),
                starts.as_ptr(),
                sizes.as_ptr(),
                values.as_mut_ptr(),
                value_sizes.as_mut_ptr(),
                errors.as_mut_ptr(),
            );
        }
        let values = values.into_iter().zip(value_sizes).map(|(start, size)| {
            (!start.is_null()).then_some(Owned { freeing: self.freeing, start, size })
        });
        let values = values.collect();
        for error in errors {
            self.store.failing("multi_get", |place: Error| unsafe { *place = error })?;
        }
        Ok(values)
    }

    /// Read at most `length` records, from a key on. Return how many were read.
    pub fn scan(&self, key: &[u8], length: u64, backward: bool) -> Result<u64, Failure> {
        let (scanning, options) = self.functions.scanning.as_ref().expect(ASKED);
        let (seek, step) = if backward {
            let scanning = self.functions.scanning_backward.as_ref().expect(ASKED);
            (scanning.iter_seek_for_prev, scanning.iter_prev)
        } else {
            (scanning.iter_seek, scanning.iter_next)
        };
        let (mut records, mut size) = (0, 0);
        // SAFETY: as in `Store::open`.
        unsafe {
            let iterator = (scanning.create_iterator)(self.store.db, *options);
            seek(iterator, key.as_ptr().cast(), key.len());
            while records < length && (scanning.iter_valid)(iterator) != 0 {
                (scanning.iter_key)(iterator, &mut size);
                (scanning.iter_value)(iterator, &mut size);
                records += 1;
                step(iterator);
            }
            let end =
                self.store.failing("scan", |error| (scanning.iter_get_error)(iterator, error));
            (scanning.iter_destroy)(iterator);
            end.map(|()| records)
        }
    }
}

impl Functions {
    /// Look up the functions for a kind of operation.
    unsafe fn find(&mut self, library: &Library, kind: Operation) -> Result<(), Failure> {
        use Operation::{Delete, Merge, MultiGet, RangeDelete, SingleDelete};
        use Operation::{Get, Put, ReadModifyWrite, Scan, ScanBackward};
        if matches!(kind, Put | ReadModifyWrite) {
            let writing = Writing::of(library)?;
            self.writing = Some((writing, unsafe { (writing.writeoptions_create)() }));
        }
        if matches!(kind, Get | ReadModifyWrite) {
            let getting = Getting::of(library)?;
            self.getting = Some((getting, unsafe { (getting.readoptions_create)() }));
        }
        if matches!(kind, SingleDelete | RangeDelete) {
            let batching = Batching::of(library)?;
            self.batching = Some((batching, unsafe { (batching.writeoptions_create)() }));
        }
        if matches!(kind, Scan | ScanBackward) {
            let scanning = Scanning::of(library)?;
            let options = unsafe { (scanning.readoptions_create)() };
            // A scan may pass from one prefix to the next.
            unsafe { (scanning.readoptions_set_total_order_seek)(options, 1) };
            self.scanning = Some((scanning, options));
        }
        match kind {
            Put | Get | ReadModifyWrite | Scan => {}
            Delete => {
                let deleting = Deleting::of(library)?;
                self.deleting = Some((deleting, unsafe { (deleting.writeoptions_create)() }));
            }
            SingleDelete => self.single_deleting = Some(SingleDeleting::of(library)?),
            RangeDelete => self.range_deleting = Some(RangeDeleting::of(library)?),
            Merge => {
                let merging = Merging::of(library)?;
                self.merging = Some((merging, unsafe { (merging.writeoptions_create)() }));
            }
            MultiGet => {
                let getting = MultiGetting::of(library)?;
                self.multi_getting = Some((getting, unsafe { (getting.readoptions_create)() }));
            }
            ScanBackward => self.scanning_backward = Some(ScanningBackward::of(library)?),
        }
        Ok(())
    }
}

/// A copy of a value that was read.
pub struct Owned {
    freeing: Freeing,
    start: *mut c_char,
    size: usize,
}

impl Owned {
    pub fn value(&self) -> &[u8] {
        // SAFETY: RocksDB has left so many bytes, which stay until `drop`.
        unsafe { slice::from_raw_parts(self.start.cast(), self.size) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the value is not used again.
        unsafe { (self.freeing.free)(self.start.cast()) };
    }
}

/// A value that was read.
pub struct Pinned<'a> {
    getting: &'a Getting,
    found: Handle,
}

impl Pinned<'_> {
    pub fn value(&self) -> &[u8] {
        let mut size = 0;
        // SAFETY: the value stays as it is until `drop`.
        unsafe {
            let start = (self.getting.pinnableslice_value)(self.found, &mut size);
            if size == 0 {
                return &[]; // the address of an empty value may be null
            }
            slice::from_raw_parts(start.cast(), size)
        }
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        // SAFETY: the value is not used again.
        unsafe { (self.getting.pinnableslice_destroy)(self.found) };
    }
}
