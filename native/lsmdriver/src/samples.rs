//! Samples of a store while clients send operations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::client::{Client, Sent};
use crate::failure::Failure;
use crate::stores::{Sample, Store, LEVELS};
use crate::usage::bytes_of;

/// The folder is read in each second sample, because this takes the most time.
const FOLDER_EVERY: usize = 2;

/// The values of the n-th sample are the n-th of each list.
#[derive(Default, Serialize)]
pub struct Samples {
    /// The time after the start of the run.
    second: Vec<f64>,
    /// The operations of all clients since the start of the run.
    operations: Vec<u64>,
    /// The bytes of the keys and values that they wrote.
    written_bytes: Vec<u64>,
    level_files: Vec<[u64; LEVELS]>,
    live_sst_bytes: Vec<u64>,
    live_blob_bytes: Vec<u64>,
    pending_bytes: Vec<u64>,
    memtable_bytes: Vec<u64>,
    /// The bytes of all files of the store, also of those that it will delete.
    folder_bytes: Vec<u64>,
}

impl Samples {
    /// Take a sample in each interval, and one in the end: when the sender of `ended` is dropped.
    pub fn take(
        store: &dyn Store,
        clients: &[Client],
        started: Instant,
        interval: Duration,
        ended: &Receiver<()>,
    ) -> Result<Self, Failure> {
        let (mut samples, mut next) = (Self::default(), Duration::ZERO);
        loop {
            let wait = next.saturating_sub(started.elapsed());
            let last = ended.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected);
            samples.add(store, clients, started, last)?;
            if last {
                return Ok(samples);
            }
            // A sample may wait for the store longer than an interval.
            while next <= started.elapsed() {
                next += interval;
            }
        }
    }

    fn add(
        &mut self,
        store: &dyn Store,
        clients: &[Client],
        started: Instant,
        last: bool,
    ) -> Result<(), Failure> {
        let sample = store.sample()?;
        let total = |count: fn(&Sent) -> &AtomicU64| {
            clients.iter().map(|client| count(&client.sent).load(Ordering::Relaxed)).sum()
        };
        let folder_bytes = match self.folder_bytes.last() {
            Some(&bytes) if self.second.len() % FOLDER_EVERY > 0 && !last => bytes,
            _ => bytes_of(store.folder(), |_| true)?,
        };
        self.second.push(started.elapsed().as_secs_f64());
        self.operations.push(total(|sent| &sent.operations));
        self.written_bytes.push(total(|sent| &sent.written_bytes));
        self.folder_bytes.push(folder_bytes);
        let Sample { level_files, live_sst_bytes, live_blob_bytes, pending_bytes, memtable_bytes } =
            sample;
        self.level_files.push(level_files);
        self.live_sst_bytes.push(live_sst_bytes);
        self.live_blob_bytes.push(live_blob_bytes);
        self.pending_bytes.push(pending_bytes);
        self.memtable_bytes.push(memtable_bytes);
        Ok(())
    }
}
