//! Loading a library while the program runs, and the functions of RocksDB's C API.
//!
//! The versions of RocksDB have different functions. So the functions are declared in groups by
//! purpose, and a group is looked up when a plan needs it. The signatures are those of
//! `rocksdb/c.h`. From 6.29 to 11.8, all versions that have a function agree on its signature.

use std::ffi::{c_char, c_int, c_uchar, c_void, CStr, CString};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

use libloading::os::unix::{Library as Loaded, RTLD_LOCAL, RTLD_NOW};

use crate::failure::{Failure, Kind};

/// A loaded library. It stays loaded until the process ends, because its threads may still run.
pub struct Library(ManuallyDrop<Loaded>);

impl Library {
    /// Load the file, and check that all libraries that it needs are there. No other library sees
    /// its symbols.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let unusable = |error: &dyn std::error::Error| {
            Kind::Library.because(format!("{}: {error}", path.display()))
        };
        // The system would search its own folders for a name without a folder.
        let full = path.canonicalize().map_err(|error| unusable(&error))?;
        // SAFETY: this runs the initialisers of the library. The plan names the library.
        let loaded = unsafe { Loaded::open(Some(full), RTLD_NOW | RTLD_LOCAL) };
        Ok(Self(ManuallyDrop::new(loaded.map_err(|error| unusable(&error))?)))
    }

    /// Load the file. A name without a folder is that of a library of the system.
    pub fn load_named(path: &Path) -> Result<Self, Failure> {
        if path.components().count() > 1 {
            return Self::load(path);
        }
        // SAFETY: as in `load`.
        let loaded = unsafe { Loaded::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        Ok(Self(ManuallyDrop::new(
            loaded.map_err(|error| Kind::Library.because(error.to_string()))?,
        )))
    }

    /// Whether the library has the function.
    pub fn has(&self, name: &str) -> bool {
        // SAFETY: the address is not used.
        unsafe { self.function::<*const c_void>(name) }.is_ok()
    }

    /// Look up a function.
    ///
    /// # Safety
    /// `F` must be a function pointer with the signature of the function.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, Failure> {
        // SAFETY: the caller promises the signature, and the library is never unloaded.
        match unsafe { self.0.get::<F>(name.as_bytes()) } {
            Ok(symbol) => Ok(*symbol),
            Err(_) => Err(Kind::Library.because(format!("the library has no function {name}"))),
        }
    }
}

/// The address of an object of the library.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Handle(*mut c_void);

// SAFETY: threads share only handles of stores and options, and the libraries allow that.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    pub const NULL: Self = Self(null_mut());

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// The place where a function of the library stores the text of an error.
pub type Error = *mut *mut c_char;

/// An array of texts.
pub type Texts = *const *const c_char;

/// The folder of a plan's store, for the library.
pub fn c_folder(folder: &Path) -> Result<CString, Failure> {
    c_text(folder.as_os_str().as_bytes(), "folder")
}

/// A text for the library. `place` is the place of the text in the plan.
pub fn c_text(text: &[u8], place: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| Kind::Plan.because(format!("{place}: contains a zero byte")))
}

/// The addresses of texts. They hold as long as the texts live.
pub fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

/// The address and the size of bytes. They hold as long as the bytes live.
pub fn parts(bytes: &[u8]) -> (*const c_char, usize) {
    (bytes.as_ptr().cast(), bytes.len())
}

/// Declare groups of functions whose names begin with a prefix.
macro_rules! functions {
    ($prefix:literal $(
        $(#[$doc:meta])*
        $group:ident {
            $($name:ident($($argument:ty),*) $(-> $result:ty)?;)*
        }
    )*) => {$(
        $(#[$doc])*
        #[allow(non_snake_case)] // functions of RocksDB
        #[derive(Clone, Copy)]
        pub struct $group { $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl $group {
            pub fn of(library: &Library) -> Result<Self, Failure> {
                // SAFETY: the signatures are those of the library's header.
                unsafe {
                    Ok(Self {
                        $($name: library.function(concat!($prefix, stringify!($name)))?,)*
                    })
                }
            }
        }
    )*};
}

pub(crate) use functions;

functions! { "rocksdb_"
    /// Freeing texts that belong to the caller.
    Freeing {
        free(*mut c_void);
    }
    Opening {
        options_create() -> Handle;
        options_set_create_if_missing(Handle, c_uchar);
        options_set_create_missing_column_families(Handle, c_uchar);
        options_set_error_if_exists(Handle, c_uchar);
        get_options_from_string(Handle, *const c_char, Handle, Error);
        options_enable_statistics(Handle);
    }
    OpeningPlain {
        open_column_families(
            Handle, *const c_char, c_int, Texts, *const Handle, *mut Handle, Error
        ) -> Handle;
    }
    OpeningTransaction {
        transactiondb_options_create() -> Handle;
        transactiondb_open_column_families(
            Handle, Handle, *const c_char, c_int, Texts, *const Handle, *mut Handle, Error
        ) -> Handle;
    }
    OpeningTtl {
        open_column_families_with_ttl(
            Handle, *const c_char, c_int, Texts, *const Handle, *mut Handle, *const c_int, Error
        ) -> Handle;
    }
    /// A block cache that a text of options cannot describe.
    HyperClock {
        hyper_clock_cache_options_create(usize, usize) -> Handle;
        hyper_clock_cache_options_set_num_shard_bits(Handle, c_int);
        cache_create_hyper_clock_opts(Handle) -> Handle;
        block_based_options_create() -> Handle;
        block_based_options_set_block_cache(Handle, Handle);
        options_set_block_based_table_factory(Handle, Handle);
    }
    RowCaching {
        cache_create_lru(usize) -> Handle;
        options_set_row_cache(Handle, Handle);
    }
    Limiting {
        ratelimiter_create(i64, i64, i32) -> Handle;
        options_set_ratelimiter(Handle, Handle);
    }
    LimitingByLoad {
        ratelimiter_create_auto_tuned(i64, i64, i32) -> Handle;
        options_set_ratelimiter(Handle, Handle);
    }
    BottomThreads {
        create_default_env() -> Handle;
        env_set_bottom_priority_background_threads(Handle, c_int);
    }
    /// Counts of the calling thread.
    Counting {
        set_perf_level(c_int);
    }
    Counted {
        perfcontext_create() -> Handle;
        perfcontext_reset(Handle);
        perfcontext_report(Handle, c_uchar) -> *mut c_char;
        perfcontext_destroy(Handle);
    }
    ListingFiles {
        livefiles(Handle) -> Handle;
        livefiles_count(Handle) -> c_int;
        livefiles_name(Handle, c_int) -> *const c_char;
        livefiles_level(Handle, c_int) -> c_int;
        livefiles_size(Handle, c_int) -> usize;
        livefiles_destroy(Handle);
    }
    WriteOptions {
        writeoptions_create() -> Handle;
        writeoptions_set_sync(Handle, c_uchar);
        writeoptions_disable_WAL(Handle, c_int);
    }
    ReadOptions {
        readoptions_create() -> Handle;
        readoptions_set_total_order_seek(Handle, c_uchar);
    }
    Writing {
        put_cf(Handle, Handle, Handle, *const c_char, usize, *const c_char, usize, Error);
    }
    Deleting {
        delete_cf(Handle, Handle, Handle, *const c_char, usize, Error);
    }
    /// A batch of writes, for operations that the C API of some versions has only in a batch.
    Batching {
        writebatch_create() -> Handle;
        write(Handle, Handle, Handle, Error);
        writebatch_destroy(Handle);
    }
    SingleDeleting {
        writebatch_singledelete_cf(Handle, Handle, *const c_char, usize);
    }
    RangeDeleting {
        writebatch_delete_range_cf(Handle, Handle, *const c_char, usize, *const c_char, usize);
    }
    Merging {
        merge_cf(Handle, Handle, Handle, *const c_char, usize, *const c_char, usize, Error);
    }
    Getting {
        get_pinned_cf(Handle, Handle, Handle, *const c_char, usize, Error) -> Handle;
        pinnableslice_value(Handle, *mut usize) -> *const c_char;
        pinnableslice_destroy(Handle);
    }
    MultiGetting {
        multi_get_cf(
            Handle, Handle, *const Handle, usize, *const *const c_char, *const usize,
            *mut *mut c_char, *mut usize, *mut *mut c_char
        );
    }
    Scanning {
        create_iterator_cf(Handle, Handle, Handle) -> Handle;
        iter_seek(Handle, *const c_char, usize);
        iter_valid(Handle) -> c_uchar;
        iter_key(Handle, *mut usize) -> *const c_char;
        iter_value(Handle, *mut usize) -> *const c_char;
        iter_next(Handle);
        iter_get_error(Handle, Error);
        iter_destroy(Handle);
    }
    ScanningBackward {
        iter_seek_for_prev(Handle, *const c_char, usize);
        iter_prev(Handle);
    }
    Flushing {
        flushoptions_create() -> Handle;
        flush_cf(Handle, Handle, Handle, Error);
    }
    Compacting {
        compactoptions_create() -> Handle;
        compactoptions_set_bottommost_level_compaction(Handle, c_uchar);
        compact_range_cf_opt(
            Handle, Handle, Handle, *const c_char, usize, *const c_char, usize
        );
    }
    Looking {
        property_int_cf(Handle, Handle, *const c_char, *mut u64) -> c_int;
    }
    Reporting {
        property_value_cf(Handle, Handle, *const c_char) -> *mut c_char;
        options_statistics_get_string(Handle) -> *mut c_char;
    }
    Changing {
        set_options_cf(Handle, Handle, c_int, Texts, Texts, Error);
    }
    ChangingDatabase {
        set_db_options(Handle, c_int, Texts, Texts, Error);
    }
    Closing {
        column_family_handle_destroy(Handle);
        close(Handle);
    }
}

impl Counting {
    /// Turn off RocksDB's counts for this thread. The statistics of the store still count.
    ///
    /// Nothing reads the counts of a thread, and they take up to 5 % of the instructions of a put.
    /// db_bench turns them off too.
    pub fn count_nothing(self) {
        // The perf level `kDisable` (include/rocksdb/perf_level.h).
        // SAFETY: the call changes a number that belongs to this thread.
        unsafe { (self.set_perf_level)(1) };
    }

    /// Let RocksDB count what this thread does, but not measure its times.
    pub fn count(self) {
        // The perf level `kEnableCount`.
        // SAFETY: as above.
        unsafe { (self.set_perf_level)(2) };
    }
}

impl Freeing {
    /// Make a call that may return the text of an error. Return the result of the call, or a
    /// failure of this kind with that text after `place`.
    pub fn attempt<T>(
        self,
        kind: Kind,
        place: &str,
        call: impl FnOnce(Error) -> T,
    ) -> Result<T, Failure> {
        let mut error = null_mut();
        let result = call(&mut error);
        // SAFETY: the library sets `error` to null, or to a text that belongs to the caller.
        match unsafe { self.take(error) } {
            None => Ok(result),
            Some(text) => Err(kind.because(format!("{place}: {text}"))),
        }
    }

    /// Make a call of an operation that may fail. The failure names the operation.
    pub fn failing<T>(self, operation: &str, call: impl FnOnce(Error) -> T) -> Result<T, Failure> {
        self.attempt(Kind::Operation, operation, call)
    }

    /// Copy a text that the library has returned, and free it. None for null.
    ///
    /// # Safety
    /// The text must be null or belong to the caller. It must not be used again.
    pub unsafe fn take(self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: the library ends its texts with a zero byte, and the caller gives up this one.
        unsafe {
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            (self.free)(text.cast());
            Some(copy)
        }
    }
}
