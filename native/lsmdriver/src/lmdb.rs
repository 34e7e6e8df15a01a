//! A store of LMDB, through its C API: a B+tree in a memory map. It has no memtables, no log and
//! no background work, and its cache is the page cache.
//!
//! Each write is a transaction without fsync, because the other stores write without fsync too.
//! When the machine crashes, they lose the newest writes, and LMDB may lose the whole store.

use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::slice;

use libc::mode_t;

use crate::api::{c_folder, functions, Handle, Library};
use crate::engine::GivenOptions;
use crate::failure::{Failure, Kind};
use crate::found::Found;
use crate::kinds::Operation;
use crate::plan::{Group, Plan, Run};
use crate::stores::{Report, Session, Store};

/// The name of the file of a store.
const FILE: &str = "data.mdb";
/// Slots for readers that are not clients of the plan, such as `mdb_stat`.
const MORE_READERS: u64 = 16;
const MODE: mode_t = 0o644;
// Values of lmdb.h.
const SUCCESS: c_int = 0;
const NOT_FOUND: c_int = -30798;
const NO_SYNC: c_uint = 0x10000;
const READ_ONLY: c_uint = 0x20000;
const NEXT: c_int = 8;
const SET_RANGE: c_int = 17;

/// `MDB_val`.
#[repr(C)]
pub struct Bytes {
    size: usize,
    start: *mut c_void,
}

/// `MDB_stat`.
#[repr(C)]
#[derive(Default)]
pub struct Stat {
    page_size: c_uint,
    depth: c_uint,
    branch_pages: usize,
    leaf_pages: usize,
    overflow_pages: usize,
    records: usize,
}

functions! { "mdb_"
    Opening {
        version(*mut c_int, *mut c_int, *mut c_int) -> *const c_char;
        strerror(c_int) -> *const c_char;
        env_create(*mut Handle) -> c_int;
        env_set_mapsize(Handle, usize) -> c_int;
        env_set_maxreaders(Handle, c_uint) -> c_int;
        env_open(Handle, *const c_char, c_uint, mode_t) -> c_int;
        env_stat(Handle, *mut Stat) -> c_int;
        env_close(Handle);
        dbi_open(Handle, *const c_char, c_uint, *mut c_uint) -> c_int;
    }
    Working {
        txn_begin(Handle, Handle, c_uint, *mut Handle) -> c_int;
        txn_commit(Handle) -> c_int;
        txn_abort(Handle);
        put(Handle, c_uint, *mut Bytes, *mut Bytes, c_uint) -> c_int;
        del(Handle, c_uint, *mut Bytes, *mut Bytes) -> c_int;
        get(Handle, c_uint, *mut Bytes, *mut Bytes) -> c_int;
        cursor_open(Handle, c_uint, *mut Handle) -> c_int;
        cursor_get(Handle, *mut Bytes, *mut Bytes, c_int) -> c_int;
        cursor_close(Handle);
    }
}

/// An open store.
pub struct Lmdb {
    _library: Library,
    opening: Opening,
    working: Working,
    env: Handle,
    /// The number of the only tree.
    tree: c_uint,
    folder: PathBuf,
}

impl Lmdb {
    pub fn open(plan: &Plan) -> Result<Self, Failure> {
        let library = Library::load_named(&plan.library)?;
        let (opening, working) = (Opening::of(&library)?, Working::of(&library)?);
        let given = GivenOptions::read(&plan.options, &["map_size"])?;
        let folder = c_folder(&plan.folder)?;
        make_folder(plan)?;
        let none = Handle::NULL;
        let mut store = Self {
            _library: library,
            opening,
            working,
            env: none,
            tree: 0,
            folder: plan.folder.clone(),
        };
        let check = |code| opening.check(Kind::Open, "open", code);
        let mut txn = none;
        // SAFETY: the calls follow lmdb.h.
        unsafe {
            check((opening.env_create)(&mut store.env))?;
            if let Some(bytes) = given.value("map_size")? {
                check((opening.env_set_mapsize)(store.env, bytes))?;
            }
            check((opening.env_set_maxreaders)(store.env, readers(plan)))?;
            check((opening.env_open)(store.env, folder.as_ptr(), NO_SYNC, MODE))?;
            check((working.txn_begin)(store.env, none, 0, &mut txn))?;
            check((opening.dbi_open)(txn, std::ptr::null(), 0, &mut store.tree))?;
            check((working.txn_commit)(txn))?;
        }
        Ok(store)
    }

    fn check(&self, operation: &str, code: c_int) -> Result<(), Failure> {
        self.opening.check(Kind::Operation, operation, code)
    }

    /// Run `write` in a transaction.
    fn write(&self, operation: &str, write: impl FnOnce(Handle) -> c_int) -> Result<(), Failure> {
        let mut txn = Handle::NULL;
        // SAFETY: as in `open`.
        unsafe {
            self.check(operation, (self.working.txn_begin)(self.env, Handle::NULL, 0, &mut txn))?;
            let code = write(txn);
            if code != SUCCESS {
                (self.working.txn_abort)(txn);
                return self.check(operation, code);
            }
            self.check(operation, (self.working.txn_commit)(txn))
        }
    }

    /// Run `read` in a transaction.
    fn read<T>(
        &self,
        operation: &str,
        read: impl FnOnce(Handle) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (working, mut txn) = (&self.working, Handle::NULL);
        // SAFETY: as in `open`.
        unsafe {
            let code = (working.txn_begin)(self.env, Handle::NULL, READ_ONLY, &mut txn);
            self.check(operation, code)?;
            let result = read(txn);
            (working.txn_abort)(txn);
            result
        }
    }
}

/// The slots for readers. Each thread that reads takes one.
///
/// A thread frees its slot when it ends, which may be after the next run has begun. So the clients
/// of all runs are added.
fn readers(plan: &Plan) -> c_uint {
    let groups = plan.runs().flat_map(|run| &run.groups);
    let clients: u64 = groups.map(|group| group.clients).sum();
    c_uint::try_from(clients + MORE_READERS).unwrap_or(c_uint::MAX)
}

/// Make the folder of a new store. LMDB makes none, and opens a store that exists.
fn make_folder(plan: &Plan) -> Result<(), Failure> {
    let folder = plan.folder.display();
    let refused = |why: &str| Err(Kind::Open.because(format!("open: {folder}: {why}")));
    match (plan.folder.join(FILE).exists(), plan.existing) {
        (true, false) => return refused("the store exists already"),
        (false, true) => return refused("the store does not exist"),
        _ => {}
    }
    match fs::create_dir(&plan.folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => refused(&error.to_string()),
        Ok(()) => Ok(()),
    }
}

impl Opening {
    fn check(&self, kind: Kind, operation: &str, code: c_int) -> Result<(), Failure> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: LMDB never frees the text.
        let why = unsafe { CStr::from_ptr((self.strerror)(code)) }.to_string_lossy();
        Err(kind.because(format!("{operation}: {why}")))
    }
}

impl Store for Lmdb {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn version(&self) -> Option<String> {
        let [mut major, mut minor, mut patch] = [0; 3];
        // SAFETY: as in `open`.
        unsafe { (self.opening.version)(&mut major, &mut minor, &mut patch) };
        Some(format!("{major}.{minor}.{patch}"))
    }

    fn session<'a>(
        &'a self,
        _run: &Run,
        _group: &Group,
        _kinds: &[Operation],
    ) -> Result<Box<dyn Session + 'a>, Failure> {
        Ok(Box::new(LmdbSession(self)))
    }

    fn logs(&self) -> bool {
        false
    }

    fn report(&self) -> Result<Report, Failure> {
        let mut stat = Stat::default();
        // SAFETY: as in `open`.
        self.check("report", unsafe { (self.opening.env_stat)(self.env, &mut stat) })?;
        let numbers = [
            ("depth", stat.depth as usize),
            ("branch pages", stat.branch_pages),
            ("leaf pages", stat.leaf_pages),
            ("overflow pages", stat.overflow_pages),
            ("bytes per page", stat.page_size as usize),
            ("records", stat.records),
        ];
        Ok(Report {
            database: numbers.map(|(name, number)| format!("{name} {number}\n")).concat(),
            ..Report::default()
        })
    }

    fn close(&self) -> Result<(), Failure> {
        // SAFETY: as in `open`; the store is not used again.
        unsafe { (self.opening.env_close)(self.env) };
        Ok(())
    }
}

impl Bytes {
    const NONE: Self = Self { size: 0, start: null_mut() };

    /// LMDB only reads the bytes, although its functions take a pointer to mutable ones.
    fn of(bytes: &[u8]) -> Self {
        Self { size: bytes.len(), start: bytes.as_ptr().cast_mut().cast() }
    }
}

struct LmdbSession<'a>(&'a Lmdb);

impl Session for LmdbSession<'_> {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let (store, mut key, mut value) = (self.0, Bytes::of(key), Bytes::of(value));
        // SAFETY: as in `open`; LMDB copies key and value during the call.
        store.write("put", |txn| unsafe {
            (store.working.put)(txn, store.tree, &mut key, &mut value, 0)
        })
    }

    fn delete(&self, key: &[u8]) -> Result<(), Failure> {
        let (store, mut key) = (self.0, Bytes::of(key));
        // SAFETY: as in `open`; LMDB reads the key only during the call.
        store.write("delete", |txn| unsafe {
            match (store.working.del)(txn, store.tree, &mut key, null_mut()) {
                NOT_FOUND => SUCCESS, // the other stores accept this too
                code => code,
            }
        })
    }

    fn get(&self, key: &[u8]) -> Result<Option<Found<'_>>, Failure> {
        let (store, mut key, mut value) = (self.0, Bytes::of(key), Bytes::NONE);
        // SAFETY: as in `delete`; the value is copied before the transaction ends.
        store.read("get", |txn| unsafe {
            let code = (store.working.get)(txn, store.tree, &mut key, &mut value);
            if code == NOT_FOUND {
                return Ok(None);
            }
            store.check("get", code)?;
            // The value lies in the memory map. It may change after the transaction.
            let copy = slice::from_raw_parts(value.start.cast(), value.size).to_vec();
            Ok(Some(Found::Copied(copy)))
        })
    }

    fn scan(&self, key: &[u8], length: u64, _backward: bool) -> Result<u64, Failure> {
        let (store, working) = (self.0, &self.0.working);
        let (mut key, mut value) = (Bytes::of(key), Bytes::NONE);
        // SAFETY: as in `delete`; the cursor is closed before the transaction ends.
        store.read("scan", |txn| unsafe {
            let (mut cursor, mut records) = (Handle::NULL, 0);
            store.check("scan", (working.cursor_open)(txn, store.tree, &mut cursor))?;
            let mut code = (working.cursor_get)(cursor, &mut key, &mut value, SET_RANGE);
            while records < length && code == SUCCESS {
                records += 1;
                code = (working.cursor_get)(cursor, &mut key, &mut value, NEXT);
            }
            (working.cursor_close)(cursor);
            if code != NOT_FOUND {
                store.check("scan", code)?;
            }
            Ok(records)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use serde_json::json;

    use super::*;
    use crate::reading::read;

    const LIBRARY: &str = "liblmdb.so.0";
    const CLIENTS: usize = 600;
    const GROUPS: usize = 2;

    fn plan(folder: &Path) -> Plan {
        let group = json!({
            "clients": CLIENTS, "operations": 1, "seed": 1, "keys": {"kind": "uniform"},
            "mix": {"get": 1},
        });
        let plan = json!({
            "engine": "lmdb", "library": LIBRARY, "folder": folder,
            "phases": [{
                "do": "run", "name": "read", "num": 10, "key_size": 16, "value_size": 100,
                "compression_ratio": 0.5, "groups": vec![group; GROUPS],
            }],
        });
        read(&plan.to_string()).unwrap()
    }

    #[test]
    fn all_clients_of_a_plan_can_read_at_once() {
        if Library::load_named(Path::new(LIBRARY)).is_err() {
            return; // LMDB is not installed
        }
        let folder = tempfile::tempdir().unwrap();
        let store = Lmdb::open(&plan(&folder.path().join("db"))).unwrap();
        let (session, barrier) = (&LmdbSession(&store), &Barrier::new(CLIENTS * GROUPS));
        let found: Vec<bool> = thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS * GROUPS)
                .map(|_| {
                    scope.spawn(|| {
                        let found = session.get(b"a key").map(|value| value.is_none());
                        barrier.wait(); // a thread has its slot until it ends
                        found == Ok(true)
                    })
                })
                .collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        assert!(found.into_iter().all(|found| found));
        store.close().unwrap();
    }
}
