//! Values that were read from a store.

use std::ffi::c_char;
use std::slice;

use crate::api::{Freeing, Getting, Handle};

/// A value that was read.
pub enum Found<'a> {
    /// The store keeps the value in memory while it is used.
    Pinned(Pinned<'a>),
    /// A copy that the library has made.
    Owned(Owned),
    /// A copy that the driver has made.
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

/// A value that the library has copied for the caller.
pub struct Owned {
    pub freeing: Freeing,
    pub start: *mut c_char,
    pub size: usize,
}

impl Owned {
    pub fn value(&self) -> &[u8] {
        // SAFETY: the library has stored `size` bytes at `start`. `drop` frees them.
        unsafe { slice::from_raw_parts(self.start.cast(), self.size) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the value is not used again.
        unsafe { (self.freeing.free)(self.start.cast()) };
    }
}

/// A value in the memory of RocksDB, which keeps it there until `drop`.
pub struct Pinned<'a> {
    pub getting: &'a Getting,
    pub found: Handle,
}

impl Pinned<'_> {
    pub fn value(&self) -> &[u8] {
        let mut size = 0;
        // SAFETY: RocksDB keeps the value until `drop`.
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
