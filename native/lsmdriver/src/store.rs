//! A store of RocksDB: opened from a text of options, flushed, looked at, closed.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::api::{Closing, Error, Flushing, Freeing, Handle, Library, Looking, Opening, Reporting};
use crate::failure::{Failure, Kind};
use crate::plan::Plan;
use crate::shared::shared_options;

/// An open store.
pub struct Store {
    pub(crate) library: Library,
    pub(crate) db: Handle,
    freeing: Freeing,
    options: Handle,
    folder: PathBuf,
}

impl Store {
    /// Open the store of a plan: a new one, or an existing one where the plan says so.
    pub fn open(plan: &Plan) -> Result<Self, Failure> {
        let library = Library::load(&plan.library)?;
        let freeing = Freeing::of(&library)?;
        let opening = Opening::of(&library)?;
        // SAFETY: the calls follow rocksdb/c.h. All handles live as long as the process.
        unsafe {
            let base = shared_options(&library, plan)?;
            let options = (opening.options_create)();
            let text = c_text(plan.options.as_bytes(), "options")?;
            freeing
                .attempt(|error| {
                    (opening.get_options_from_string)(base, text.as_ptr(), options, error)
                })
                .map_err(|error| Kind::Open.because(format!("options: {error}")))?;
            (opening.options_set_create_if_missing)(options, u8::from(!plan.existing));
            (opening.options_set_error_if_exists)(options, u8::from(!plan.existing));
            (opening.options_enable_statistics)(options);
            let folder = c_text(plan.folder.as_os_str().as_bytes(), "folder")?;
            let db = freeing
                .attempt(|error| (opening.open)(options, folder.as_ptr(), error))
                .map_err(|error| Kind::Open.because(format!("open: {error}")))?;
            Ok(Self { library, freeing, options, db, folder: plan.folder.clone() })
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name and the text of the OPTIONS file that the store has written last.
    pub fn options_file(&self) -> Result<(String, String), Failure> {
        newest_options(&self.folder)
            .map_err(|error| Kind::Open.because(format!("OPTIONS: {error}")))
    }

    /// Write the memtables into tables.
    pub fn flush(&self) -> Result<(), Failure> {
        let flushing = Flushing::of(&self.library)?;
        // SAFETY: as in `open`.
        unsafe {
            let options = (flushing.flushoptions_create)();
            self.failing("flush", |error| (flushing.flush)(self.db, options, error))
        }
    }

    /// A function that gives the number of a property, or None for one that the version lacks.
    pub fn numbers(&self) -> Result<impl Fn(&CStr) -> Option<u64> + '_, Failure> {
        let looking = Looking::of(&self.library)?;
        Ok(move |name: &CStr| {
            let mut value = 0;
            // SAFETY: as in `open`.
            let refused = unsafe { (looking.property_int)(self.db, name.as_ptr(), &mut value) };
            (refused == 0).then_some(value)
        })
    }

    /// All tickers and histograms since the store was opened, and the tables of `rocksdb.stats`.
    pub fn report(&self) -> Result<(String, String), Failure> {
        let reporting = Reporting::of(&self.library)?;
        // SAFETY: as in `open`; both texts are the caller's.
        let texts = unsafe {
            [
                self.freeing.take((reporting.options_statistics_get_string)(self.options)),
                self.freeing.take((reporting.property_value)(self.db, c"rocksdb.stats".as_ptr())),
            ]
        };
        match texts {
            [Some(statistics), Some(tables)] => Ok((statistics, tables)),
            _ => Err(Kind::Operation.because("the store has no statistics")),
        }
    }

    /// Close the store. Waits for compactions that run.
    pub fn close(self) -> Result<(), Failure> {
        let closing = Closing::of(&self.library)?;
        // SAFETY: as in `open`; the store is not used again.
        unsafe { (closing.close)(self.db) };
        Ok(())
    }

    /// Make a call that may fail; the failure names the operation.
    pub(crate) fn failing<T>(
        &self,
        operation: &str,
        call: impl FnOnce(Error) -> T,
    ) -> Result<T, Failure> {
        self.freeing
            .attempt(call)
            .map_err(|error| Kind::Operation.because(format!("{operation}: {error}")))
    }
}

/// A text for RocksDB. `place` says where the plan has it.
pub(crate) fn c_text(text: &[u8], place: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| Kind::Plan.because(format!("{place}: contains a zero byte")))
}

fn newest_options(folder: &Path) -> io::Result<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let number = name.strip_prefix("OPTIONS-").and_then(|digits| digits.parse::<u64>().ok());
        found.extend(number.map(|number| (number, name)));
    }
    let (_, name) = found.into_iter().max().ok_or(io::Error::from(io::ErrorKind::NotFound))?;
    let text = fs::read_to_string(folder.join(&name))?;
    Ok((name, text))
}
