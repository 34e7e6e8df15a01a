//! Opening a store of RocksDB with texts of options.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::api::{
    c_folder, c_text, pointers, Freeing, Handle, Library, Opening, OpeningPlain,
    OpeningTransaction, OpeningTtl,
};
use crate::failure::{Failure, Kind};
use crate::plan::{Plan, DEFAULT_FAMILY};
use crate::settings::StoreKind;
use crate::shared::shared_options;
use crate::stores::OptionsFile;

/// An open store.
///
/// `db` may be a store with transactions or with a time to live. The functions for a plain store
/// work on them too, because each handle is a C++ object with virtual methods. So a put into a
/// store with transactions takes its locks.
pub struct RocksDb {
    pub(crate) library: Library,
    pub(crate) db: Handle,
    pub(crate) freeing: Freeing,
    pub(crate) options: Handle,
    pub(crate) families: BTreeMap<String, Handle>,
    pub(crate) folder: PathBuf,
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
            // SAFETY: the calls follow rocksdb/c.h. All handles live as long as the process. The
            // library reads a text only during the call.
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
                // SAFETY: as above.
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

    /// The newest options that RocksDB has written.
    pub fn newest_options(&self) -> Result<OptionsFile, Failure> {
        let folder = &self.folder;
        newest_options(folder).map_err(|error| {
            Kind::Open.because(format!("OPTIONS file in {}: {error}", folder.display()))
        })
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
    let folder = c_folder(&plan.folder)?;
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
