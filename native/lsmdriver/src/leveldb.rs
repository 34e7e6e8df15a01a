//! A store of LevelDB, through its C API. Flushes and compactions share one thread.

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::path::{Path, PathBuf};

use crate::api::{c_folder, functions, parts, Error, Freeing, Handle, Library};
use crate::engine::{refused, GivenOptions};
use crate::failure::{Failure, Kind};
use crate::found::{Found, Owned};
use crate::kinds::Operation;
use crate::plan::{Group, Plan, Run, DEFAULT_FAMILY};
use crate::stores::{Report, Session, Store};

const KEYS: [&str; 5] =
    ["write_buffer_size", "max_file_size", "block_size", "bloom_bits", "compression"];
/// Names of codecs. The place of a name is the codec's number in LevelDB.
const CODECS: [&str; 2] = ["none", "snappy"];

functions! { "leveldb_"
    Opening {
        free(*mut c_void);
        major_version() -> c_int;
        minor_version() -> c_int;
        options_create() -> Handle;
        options_set_create_if_missing(Handle, c_uchar);
        options_set_error_if_exists(Handle, c_uchar);
        options_set_write_buffer_size(Handle, usize);
        options_set_max_file_size(Handle, usize);
        options_set_block_size(Handle, usize);
        options_set_compression(Handle, c_int);
        options_set_cache(Handle, Handle);
        options_set_filter_policy(Handle, Handle);
        cache_create_lru(usize) -> Handle;
        filterpolicy_create_bloom(c_int) -> Handle;
        writeoptions_create() -> Handle;
        readoptions_create() -> Handle;
        readoptions_set_verify_checksums(Handle, c_uchar);
        open(Handle, *const c_char, Error) -> Handle;
        property_value(Handle, *const c_char) -> *mut c_char;
        close(Handle);
    }
    Working {
        put(Handle, Handle, *const c_char, usize, *const c_char, usize, Error);
        delete(Handle, Handle, *const c_char, usize, Error);
        get(Handle, Handle, *const c_char, usize, *mut usize, Error) -> *mut c_char;
        create_iterator(Handle, Handle) -> Handle;
        iter_seek(Handle, *const c_char, usize);
        iter_valid(Handle) -> c_uchar;
        iter_value(Handle, *mut usize) -> *const c_char;
        iter_next(Handle);
        iter_get_error(Handle, Error);
        iter_destroy(Handle);
    }
}

/// An open store.
pub struct LevelDb {
    _library: Library,
    opening: Opening,
    working: Working,
    freeing: Freeing,
    db: Handle,
    write_options: Handle,
    read_options: Handle,
    folder: PathBuf,
}

impl LevelDb {
    pub fn open(plan: &Plan) -> Result<Self, Failure> {
        let library = Library::load_named(&plan.library)?;
        let (opening, working) = (Opening::of(&library)?, Working::of(&library)?);
        let freeing = Freeing { free: opening.free };
        let folder = c_folder(&plan.folder)?;
        let options = opening.options(plan)?;
        // SAFETY: the calls follow leveldb/c.h. All handles live as long as the process.
        unsafe {
            let read_options = (opening.readoptions_create)();
            // RocksDB does this by default.
            (opening.readoptions_set_verify_checksums)(read_options, 1);
            let db = freeing.attempt(Kind::Open, "open", |error| {
                (opening.open)(options, folder.as_ptr(), error)
            })?;
            Ok(Self {
                _library: library,
                opening,
                working,
                freeing,
                db,
                write_options: (opening.writeoptions_create)(),
                read_options,
                folder: plan.folder.clone(),
            })
        }
    }
}

impl Opening {
    fn options(&self, plan: &Plan) -> Result<Handle, Failure> {
        let given = GivenOptions::read(&plan.options, &KEYS)?;
        // SAFETY: as in `LevelDb::open`.
        unsafe {
            let options = (self.options_create)();
            (self.options_set_create_if_missing)(options, (!plan.existing).into());
            (self.options_set_error_if_exists)(options, (!plan.existing).into());
            for (key, set) in [
                ("write_buffer_size", self.options_set_write_buffer_size),
                ("max_file_size", self.options_set_max_file_size),
                ("block_size", self.options_set_block_size),
            ] {
                if let Some(bytes) = given.value(key)? {
                    set(options, bytes);
                }
            }
            if let Some(name) = given.value::<String>("compression")? {
                let codec = CODECS.iter().position(|&codec| codec == name).ok_or_else(|| {
                    refused("compression", &name, &format!("allowed: {}", CODECS.join(", ")))
                })?;
                (self.options_set_compression)(options, codec as c_int);
            }
            // A negative number would end the process in LevelDB.
            if let Some(bits) = given.value::<u16>("bloom_bits")? {
                let filter = (self.filterpolicy_create_bloom)(bits.into());
                (self.options_set_filter_policy)(options, filter);
            }
            if let Some(cache) = &plan.block_cache {
                (self.options_set_cache)(options, (self.cache_create_lru)(cache.bytes));
            }
            Ok(options)
        }
    }
}

impl Store for LevelDb {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn version(&self) -> Option<String> {
        // SAFETY: as in `open`.
        let (major, minor) =
            unsafe { ((self.opening.major_version)(), (self.opening.minor_version)()) };
        Some(format!("{major}.{minor}"))
    }

    fn session<'a>(
        &'a self,
        _run: &Run,
        _group: &Group,
        _kinds: &[Operation],
    ) -> Result<Box<dyn Session + 'a>, Failure> {
        Ok(Box::new(LevelSession(self)))
    }

    fn report(&self) -> Result<Report, Failure> {
        // SAFETY: as in `open`; the text belongs to the caller.
        let text = unsafe {
            let text = (self.opening.property_value)(self.db, c"leveldb.stats".as_ptr());
            self.freeing.take(text)
        };
        let table =
            text.ok_or_else(|| Kind::Operation.because("the store has no leveldb.stats"))?;
        Ok(Report { tables: [(DEFAULT_FAMILY.to_owned(), table)].into(), ..Report::default() })
    }

    fn close(&self) -> Result<(), Failure> {
        // SAFETY: as in `open`; the store is not used again.
        unsafe { (self.opening.close)(self.db) };
        Ok(())
    }
}

struct LevelSession<'a>(&'a LevelDb);

impl Session for LevelSession<'_> {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let (store, options) = (self.0, self.0.write_options);
        let ((key, key_size), (value, size)) = (parts(key), parts(value));
        // SAFETY: as in `open`; the library reads key and value only during the call.
        store.freeing.failing("put", |error| unsafe {
            (store.working.put)(store.db, options, key, key_size, value, size, error);
        })
    }

    fn delete(&self, key: &[u8]) -> Result<(), Failure> {
        let (store, options, (key, size)) = (self.0, self.0.write_options, parts(key));
        // SAFETY: as in `open`; the library reads the key only during the call.
        store.freeing.failing("delete", |error| unsafe {
            (store.working.delete)(store.db, options, key, size, error);
        })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Found<'_>>, Failure> {
        let (store, options) = (self.0, self.0.read_options);
        let ((key, key_size), mut size) = (parts(key), 0);
        // SAFETY: as in `delete`; the library writes the size into `size`.
        let start = store.freeing.failing("get", |error| unsafe {
            (store.working.get)(store.db, options, key, key_size, &mut size, error)
        })?;
        let found = (!start.is_null()).then(|| Owned { freeing: store.freeing, start, size });
        Ok(found.map(Found::Owned))
    }

    fn scan(&self, key: &[u8], length: u64, _backward: bool) -> Result<u64, Failure> {
        let (store, working) = (self.0, &self.0.working);
        let ((key, key_size), mut records, mut size) = (parts(key), 0, 0);
        // SAFETY: as in `open`.
        unsafe {
            let iterator = (working.create_iterator)(store.db, store.read_options);
            (working.iter_seek)(iterator, key, key_size);
            while records < length && (working.iter_valid)(iterator) != 0 {
                (working.iter_value)(iterator, &mut size);
                records += 1;
                (working.iter_next)(iterator);
            }
            let end =
                store.freeing.failing("scan", |error| (working.iter_get_error)(iterator, error));
            (working.iter_destroy)(iterator);
            end.map(|()| records)
        }
    }
}
