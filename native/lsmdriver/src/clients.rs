//! The clients of a run: threads that send operations and measure their times.

use std::io;
use std::mem::swap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::end::end_with;
use crate::events::{print, Event};
use crate::failure::{Failure, Kind};
use crate::keys::Sequence;
use crate::pace::Pace;
use crate::plan::Run;
use crate::records::Values;
use crate::stores::{Session, Store};
use crate::times::Tally;

const INTERVAL: Duration = Duration::from_secs(1);

/// Check that the store can do all operations of a run. The failure names what is missing.
pub fn check(store: &dyn Store, plan: &Run) -> Result<(), Failure> {
    sessions(store, plan, &sequences(plan)).map(drop)
}

fn sequences(plan: &Run) -> Vec<Sequence> {
    plan.groups.iter().map(|group| Sequence::new(group, plan.num)).collect()
}

/// The session of each group.
fn sessions<'a>(
    store: &'a dyn Store,
    plan: &Run,
    sequences: &[Sequence],
) -> Result<Vec<Box<dyn Session + 'a>>, Failure> {
    let groups = plan.groups.iter().zip(sequences);
    let made = groups
        .map(|(group, sequence)| store.session(plan, group, &sequence.kinds().collect::<Vec<_>>()));
    made.collect()
}

/// Run the clients. Print the operations of each second, and then their sum.
///
/// If a client fails, the process ends, because the other clients may wait in RocksDB forever.
pub fn run(store: &dyn Store, plan: &Run) -> Result<(), Failure> {
    let values = &Values::new(plan.value_size, plan.compression_ratio);
    let sequences = sequences(plan);
    let sessions = sessions(store, plan, &sequences)?;
    let paces: Vec<Option<Pace>> =
        plan.groups.iter().map(|group| group.bytes_per_second.map(Pace::new)).collect();
    let mut clients = Vec::new();
    for (place, group) in plan.groups.iter().enumerate() {
        let (sequence, session) = (&sequences[place], &*sessions[place]);
        let pace = paces[place].as_ref();
        for number in 0..group.clients {
            let tally = Mutex::new(Tally::of(sequence.kinds()));
            clients.push(Client { plan, group, sequence, values, session, pace, number, tally });
        }
    }
    let (stop, barrier) = (&AtomicBool::new(false), &Barrier::new(clients.len() + 1));
    let mut watch = Watch::new(plan, &clients);
    thread::scope(|scope| {
        let (sender, ends) = channel();
        for client in &clients {
            let sender = sender.clone();
            let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                client.session.begin();
                barrier.wait();
                let began = Instant::now();
                if let Err(failure) = client.work(stop) {
                    end_with(&failure);
                }
                let end = End { awaited: client.ends_by_itself(), began, ended: Instant::now() };
                let _ = sender.send(end); // the receiver waits for all senders
            });
            if let Err(error) = spawned {
                end_with(&too_many(plan, clients.len(), &error));
            }
        }
        drop(sender);
        let started = Instant::now();
        barrier.wait();
        watch.until_the_end(started, &ends, stop);
    });
    Ok(())
}

fn too_many(plan: &Run, clients: usize, error: &io::Error) -> Failure {
    Kind::Operation.because(format!(
        "{}: the system does not start a thread for each of {clients} clients: {error}",
        plan.name
    ))
}

/// The end of a client. The run lasts until all `awaited` clients have ended.
struct End {
    awaited: bool,
    began: Instant,
    ended: Instant,
}

/// Reads the counts of the clients each second, and ends the run.
struct Watch<'a> {
    plan: &'a Run,
    clients: &'a [Client<'a>],
    /// An empty tally for each client, which replaces the one that the client has filled.
    spares: Vec<Tally>,
    all: Tally,
}

impl<'a> Watch<'a> {
    fn new(plan: &'a Run, clients: &'a [Client<'a>]) -> Self {
        let spares = clients.iter().map(|client| Tally::of(client.sequence.kinds())).collect();
        Self { plan, clients, spares, all: Tally::default() }
    }

    fn until_the_end(&mut self, started: Instant, ends: &Receiver<End>, stop: &AtomicBool) {
        let limit = self.plan.seconds.map(Duration::from_secs_f64);
        let mut awaited = self.clients.iter().filter(|client| client.ends_by_itself()).count();
        let all_are_measured = awaited == 0;
        let (mut printed, mut next) = (Duration::ZERO, INTERVAL);
        let (mut began, mut ended) = (None, started);
        loop {
            let running = !stop.load(Ordering::Relaxed);
            let look = limit.filter(|_| running).map_or(next, |limit| limit.min(next));
            match ends.recv_timeout(look.saturating_sub(started.elapsed())) {
                Ok(end) => {
                    if end.awaited || all_are_measured {
                        began = began.into_iter().chain([end.began]).min();
                        ended = ended.max(end.ended);
                    }
                    awaited -= usize::from(end.awaited);
                    if awaited == 0 {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if limit.is_some_and(|limit| started.elapsed() >= limit) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    if started.elapsed() >= next {
                        next += INTERVAL;
                        printed = self.print_since(printed, started.elapsed());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.print_since(printed, started.elapsed());
        let seconds = began.map_or(0.0, |began| ended.duration_since(began).as_secs_f64());
        let operations = self.all.results();
        print(&Event::Run { phase: &self.plan.name, seconds, operations });
    }

    /// Print the operations of the clients since `from`. Return `to`, the time of the call.
    fn print_since(&mut self, from: Duration, to: Duration) -> Duration {
        let mut sum = Tally::default();
        for (client, spare) in self.clients.iter().zip(&mut self.spares) {
            swap(&mut *client.tally.lock().expect("a panic ends the process"), spare);
            sum.add(spare);
            spare.clear();
        }
        self.all.add(&sum);
        let (from_s, to_s) = (from.as_secs_f64(), to.as_secs_f64());
        print(&Event::Second { phase: &self.plan.name, from_s, to_s, operations: sum.results() });
        to
    }
}
