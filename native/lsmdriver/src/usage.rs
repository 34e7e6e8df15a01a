//! The bytes that the process has written, and those of a folder.

use std::fs;
use std::path::Path;

use crate::failure::{Failure, Kind};

const PATH: &str = "/proc/self/io";
const WRITTEN: &str = "write_bytes: ";

/// The bytes that the process has written to the device, or that the page cache will write.
pub fn disk_write_bytes() -> Result<u64, Failure> {
    let unreadable = |why: &str| Kind::Operation.because(format!("{PATH}: {why}"));
    let text = fs::read_to_string(PATH).map_err(|error| unreadable(&error.to_string()))?;
    let number = text.lines().find_map(|line| line.strip_prefix(WRITTEN)?.parse().ok());
    number.ok_or_else(|| unreadable("there is no line write_bytes"))
}

/// The sizes of the files of a folder that are `wanted`, together.
pub fn bytes_of(folder: &Path, wanted: fn(&Path) -> bool) -> Result<u64, Failure> {
    let entries = fs::read_dir(folder)
        .map_err(|error| Kind::Operation.because(format!("{}: {error}", folder.display())))?;
    // The store may delete a file at any time.
    let found = entries.flatten().filter(|entry| wanted(&entry.path()));
    let sizes = found.filter_map(|entry| entry.metadata().ok());
    Ok(sizes.filter(|data| data.is_file()).map(|data| data.len()).sum())
}
