//! The LOG of a store: its version, and which flushes and compactions run.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

const VERSION: &str = "RocksDB version: ";
/// The version is among the first lines.
const HEAD_LINES: usize = 100;
const EVENT: &str = "EVENT_LOG_v1 ";

/// The version in the LOG of a store. None if the LOG has none.
pub fn version(folder: &Path) -> Option<String> {
    let lines = BufReader::new(File::open(folder.join("LOG")).ok()?).lines();
    lines
        .take(HEAD_LINES)
        .map_while(Result::ok)
        .find_map(|line| line.split_once(VERSION).map(|(_, version)| version.trim().to_owned()))
}

#[derive(Deserialize)]
struct Logged {
    event: String,
    job: Option<u64>,
}

/// Reads a LOG as it grows.
pub struct Follower {
    path: PathBuf,
    position: u64,
    rest: Vec<u8>,
    running: BTreeSet<u64>,
}

impl Follower {
    pub fn new(folder: &Path) -> Self {
        let path = folder.join("LOG");
        Self { path, position: 0, rest: Vec::new(), running: BTreeSet::new() }
    }

    /// Read the new lines. Return whether the LOG has grown.
    pub fn read(&mut self) -> io::Result<bool> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.position))?;
        let new = file.read_to_end(&mut self.rest)?;
        self.position += new as u64;
        if let Some(end) = self.rest.iter().rposition(|&byte| byte == b'\n') {
            // All lines at once: removing one after the other would move the rest each time.
            let lines: Vec<u8> = self.rest.drain(..=end).collect();
            for line in lines.split(|&byte| byte == b'\n') {
                self.note(&String::from_utf8_lossy(line));
            }
        }
        Ok(new > 0)
    }

    /// Whether a flush or a compaction has begun and not ended.
    pub fn busy(&self) -> bool {
        !self.running.is_empty()
    }

    fn note(&mut self, line: &str) {
        let Some((_, event)) = line.split_once(EVENT) else { return };
        let Ok(Logged { event, job: Some(job) }) = serde_json::from_str(event) else { return };
        match event.as_str() {
            "flush_started" | "compaction_started" => {
                self.running.insert(job);
            }
            "flush_finished" | "compaction_finished" => {
                self.running.remove(&job);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    fn event(name: &str, job: u64) -> String {
        let json = format!(r#"{{"time_micros": 1, "job": {job}, "event": "{name}"}}"#);
        format!("2026/01/01-00:00:00.000000 1 {EVENT}{json}\n")
    }

    #[test]
    fn jobs_run_until_they_have_finished() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = File::create(folder.path().join("LOG")).unwrap();
        let mut follower = Follower::new(folder.path());
        assert!(!follower.read().unwrap());
        let mut after = |text: &str| {
            log.write_all(text.as_bytes()).unwrap();
            (follower.read().unwrap(), follower.busy())
        };
        assert_eq!(after("a line\n"), (true, false));
        assert_eq!(after(""), (false, false));
        assert_eq!(after(&event("flush_started", 3)), (true, true));
        let (half, other) = (event("compaction_started", 4), event("compaction_finished", 4));
        assert_eq!(after(&(event("flush_finished", 3) + &half[..40])), (true, false));
        assert_eq!(after(&half[40..]), (true, true));
        assert_eq!(after(&event("table_file_creation", 4)), (true, true));
        assert_eq!(after(&other), (true, false));
    }

    #[test]
    fn the_version_is_in_the_head() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(version(folder.path()), None);
        let text = "2026/01/01-00:00:00.000000 7f RocksDB version: 11.8.1\nnext\n";
        fs::write(folder.path().join("LOG"), text).unwrap();
        assert_eq!(version(folder.path()).as_deref(), Some("11.8.1"));
    }
}
