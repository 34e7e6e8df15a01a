//! The operations of clients on a store.

use std::slice;

use crate::api::{Deleting, Getting, Handle, Scanning, Writing};
use crate::failure::Failure;
use crate::plan::{Group, Operation, Run};
use crate::store::Store;

/// Functions for some kinds of operations, with the options of each. All clients may use one.
pub struct Session<'a> {
    store: &'a Store,
    family: Handle,
    writing: Option<(Writing, Handle)>,
    deleting: Option<(Deleting, Handle)>,
    getting: Option<(Getting, Handle)>,
    scanning: Option<(Scanning, Handle)>,
}

const ASKED: &str = "the session is made for the kinds of operations that it does";

impl<'a> Session<'a> {
    /// Look up the functions for these kinds, which a group of a run does in its family. The
    /// failure names one that the library lacks.
    pub fn new(
        store: &'a Store,
        run: &Run,
        group: &Group,
        kinds: impl Iterator<Item = Operation>,
    ) -> Result<Self, Failure> {
        let library = &store.library;
        let family = store.family(&group.family)?;
        let mut session =
            Self { store, family, writing: None, deleting: None, getting: None, scanning: None };
        for kind in kinds {
            // SAFETY: as in `Store::open`.
            unsafe {
                match kind {
                    Operation::Put => {
                        let writing = Writing::of(library)?;
                        let options = (writing.writeoptions_create)();
                        (writing.writeoptions_set_sync)(options, run.sync.into());
                        (writing.writeoptions_disable_WAL)(options, run.disable_wal.into());
                        session.writing = Some((writing, options));
                    }
                    Operation::Delete => {
                        let deleting = Deleting::of(library)?;
                        let options = (deleting.writeoptions_create)();
                        (deleting.writeoptions_set_sync)(options, run.sync.into());
                        (deleting.writeoptions_disable_WAL)(options, run.disable_wal.into());
                        session.deleting = Some((deleting, options));
                    }
                    Operation::Get => {
                        let getting = Getting::of(library)?;
                        session.getting = Some((getting, (getting.readoptions_create)()));
                    }
                    Operation::Scan => {
                        let scanning = Scanning::of(library)?;
                        let options = (scanning.readoptions_create)();
                        // A scan may pass from one prefix to the next.
                        (scanning.readoptions_set_total_order_seek)(options, 1);
                        session.scanning = Some((scanning, options));
                    }
                }
            }
        }
        Ok(session)
    }

    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let (writing, options) = self.writing.as_ref().expect(ASKED);
        let (key, key_size) = (key.as_ptr().cast(), key.len());
        let (value, size) = (value.as_ptr().cast(), value.len());
        self.store.failing("put", |error| unsafe {
            (writing.put_cf)(
                self.store.db,
                *options,
                self.family,
                key,
                key_size,
                value,
                size,
                error,
            );
        })
    }

    pub fn delete(&self, key: &[u8]) -> Result<(), Failure> {
        let (deleting, options) = self.deleting.as_ref().expect(ASKED);
        self.store.failing("delete", |error| unsafe {
            (deleting.delete_cf)(
                self.store.db,
                *options,
                self.family,
                key.as_ptr().cast(),
                key.len(),
                error,
            );
        })
    }

    /// The value of a key, which RocksDB keeps as long as it is used; None without one.
    pub fn get(&self, key: &[u8]) -> Result<Option<Pinned<'_>>, Failure> {
        let (getting, options) = self.getting.as_ref().expect(ASKED);
        let found = self.store.failing("get", |error| unsafe {
            (getting.get_pinned_cf)(
                self.store.db,
                *options,
                self.family,
                key.as_ptr().cast(),
                key.len(),
                error,
            )
        })?;
        Ok((!found.is_null()).then_some(Pinned { getting, found }))
    }

    /// Read at most `length` records, beginning at a key. Return how many were read.
    pub fn scan(&self, key: &[u8], length: u64) -> Result<u64, Failure> {
        let (scanning, options) = self.scanning.as_ref().expect(ASKED);
        let (mut records, mut size) = (0, 0);
        // SAFETY: as in `Store::open`.
        unsafe {
            let iterator = (scanning.create_iterator_cf)(self.store.db, *options, self.family);
            (scanning.iter_seek)(iterator, key.as_ptr().cast(), key.len());
            while records < length && (scanning.iter_valid)(iterator) != 0 {
                (scanning.iter_key)(iterator, &mut size);
                (scanning.iter_value)(iterator, &mut size);
                records += 1;
                (scanning.iter_next)(iterator);
            }
            let end =
                self.store.failing("scan", |error| (scanning.iter_get_error)(iterator, error));
            (scanning.iter_destroy)(iterator);
            end.map(|()| records)
        }
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
