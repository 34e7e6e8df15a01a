//! The bytes that the process has written.

use std::fs;

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
