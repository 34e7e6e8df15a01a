//! The clients of a run: threads that send operations and measure their times.

use std::collections::BTreeMap;
use std::io;
use std::mem::swap;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Barrier, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::arrivals::{Arrivals, Kept};
use crate::blocks::Blocks;
use crate::client::{Client, Sent, Work};
use crate::cpu::Spent;
use crate::events::{end_with, print, Event, Wakeups};
use crate::failure::{Failure, Kind};
use crate::keys::Sequence;
use crate::kinds::Operation;
use crate::pace::Pace;
use crate::plan::{Group, Run};
use crate::records::Values;
use crate::samples::Samples;
use crate::stores::{Session, Store};
use crate::times::{Results, Tally, Times, US_PER_S};

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
    let arrivals: Vec<Option<Arrivals>> =
        plan.groups.iter().enumerate().map(|(place, group)| Arrivals::of(group, place)).collect();
    let mut clients = Vec::new();
    for (place, group) in plan.groups.iter().enumerate() {
        let (sequence, session) = (&sequences[place], &*sessions[place]);
        let (pace, arrivals) = (paces[place].as_ref(), arrivals[place].as_ref());
        for number in 0..group.clients {
            let (tally, sent) = (Mutex::new(empty(sequence, group)), Sent::default());
            clients.push(Client {
                plan,
                group,
                sequence,
                values,
                session,
                pace,
                arrivals,
                number,
                tally,
                sent,
            });
        }
    }
    send(store, plan, &clients)
}

/// An empty tally for the clients of a group.
fn empty(sequence: &Sequence, group: &Group) -> Tally {
    Tally::of(sequence.kinds().map(|kind| group.told(kind)), group.per_second.is_some())
}

/// Let the clients work until the run ends.
fn send(store: &dyn Store, plan: &Run, clients: &[Client]) -> Result<(), Failure> {
    let (stop, barrier) = (&AtomicBool::new(false), &Barrier::new(clients.len() + 1));
    let start = &OnceLock::new();
    let mut watch = Watch::new(plan, clients);
    thread::scope(|scope| {
        let (sender, ends) = channel();
        for (place, client) in clients.iter().enumerate() {
            let sender = sender.clone();
            let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                client.session.begin();
                barrier.wait(); // until all threads exist
                barrier.wait(); // until the run starts
                let started = *start.get().expect("set before the start");
                let work = client.work(started, stop).unwrap_or_else(|failure| end_with(&failure));
                let _ = sender.send(End { place, work }); // the receiver waits for all senders
            });
            if let Err(error) = spawned {
                end_with(&too_many(plan, clients.len(), &error));
            }
        }
        drop(sender);
        barrier.wait();
        // The clients wait, so the scope could not end with a failure.
        let before = Spent::now(store.threads()).unwrap_or_else(|failure| end_with(&failure));
        let started = *start.get_or_init(Instant::now);
        barrier.wait();
        let (running, ended) = channel();
        let sampler = plan.sample_ms.map(|interval_ms| {
            let interval = Duration::from_millis(interval_ms);
            scope.spawn(move || Samples::take(store, clients, started, interval, &ended))
        });
        let ended = watch.until_the_end(started, &ends, stop);
        let spent = Spent::now(store.threads())?;
        drop::<Sender<()>>(running);
        if let Some(sampler) = sampler {
            let samples = sampler.join().expect("a panic ends the process")?;
            print(&Event::Samples { phase: &plan.name, samples });
        }
        let calls = ended.works.values().map(|work| work.cpu).sum();
        let named = !store.threads().is_empty();
        print(&Event::Run {
            phase: &plan.name,
            seconds: ended.seconds,
            operations: watch.results(&ended.works),
            behind_s: plan.seconds.and_then(|_| behind_s(plan, clients, &ended.works)),
            wakeup_us: wakeups(&ended.works),
            cpu_s: named.then(|| spent.since(&before, calls)),
        });
        Ok(())
    })
}

/// How late the operations of the latest group began in the last quarter of the run: the median.
/// None without groups with due times.
fn behind_s(plan: &Run, clients: &[Client], works: &Works) -> Option<f64> {
    let groups = plan.groups.iter().filter(|group| group.per_second.is_some());
    let medians = groups.map(|group| {
        let mut all = Times::new();
        for (place, work) in works {
            if let Some(kept) = work.kept.as_ref().filter(|_| ptr::eq(clients[*place].group, group))
            {
                all.add(&kept.behind);
            }
        }
        all.us(0.5) / US_PER_S
    });
    medians.reduce(f64::max)
}

fn wakeups(works: &Works) -> Option<Wakeups> {
    let mut kept = works.values().filter_map(|work| work.kept.as_ref()).peekable();
    kept.peek()?;
    let mut all = Times::new();
    kept.for_each(|Kept { wakeups, .. }| all.add(wakeups));
    Some(Wakeups { count: all.len(), p50_us: all.us(0.5), p99_us: all.us(0.99) })
}

fn too_many(plan: &Run, clients: usize, error: &io::Error) -> Failure {
    Kind::Operation.because(format!(
        "{}: the system does not start a thread for each of {clients} clients: {error}",
        plan.name
    ))
}

/// The end of a client, which is the `place`-th of its run.
struct End {
    place: usize,
    work: Work,
}

/// The work of clients by their places.
type Works = BTreeMap<usize, Work>;

/// A run that has ended.
struct Ended {
    seconds: f64,
    works: Works,
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
        let spares = clients.iter().map(|client| empty(client.sequence, client.group)).collect();
        Self { plan, clients, spares, all: Tally::default() }
    }

    /// Wait until all clients have ended. The run lasts until those that end by themselves have.
    fn until_the_end(
        &mut self,
        started: Instant,
        ends: &Receiver<End>,
        stop: &AtomicBool,
    ) -> Ended {
        let limit = self.plan.seconds.map(Duration::from_secs_f64);
        let mut awaited = self.clients.iter().filter(|client| client.ends_by_itself()).count();
        let all_are_measured = awaited == 0;
        let (mut printed, mut next) = (Duration::ZERO, INTERVAL);
        let (mut began, mut ended, mut works) = (None, started, Works::new());
        loop {
            let running = !stop.load(Ordering::Relaxed);
            let look = limit.filter(|_| running).map_or(next, |limit| limit.min(next));
            match ends.recv_timeout(look.saturating_sub(started.elapsed())) {
                Ok(End { place, work }) => {
                    let is_awaited = self.clients[place].ends_by_itself();
                    if is_awaited || all_are_measured {
                        began = began.into_iter().chain([work.began]).min();
                        ended = ended.max(work.ended);
                    }
                    works.insert(place, work);
                    awaited -= usize::from(is_awaited);
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
        Ended { seconds, works }
    }

    /// The results of the run, with the blocks that clients have read.
    fn results(&self, works: &Works) -> BTreeMap<Operation, Results> {
        let mut results = self.all.results();
        for (&place, work) in works {
            let group = self.clients[place].group;
            for (kind, blocks) in group.looks().zip(work.blocks) {
                let result = results.get_mut(&group.told(kind)).expect("the group does it");
                result.blocks.get_or_insert_with(Blocks::default).add(blocks);
            }
        }
        results
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
        let mut operations = sum.results();
        operations.values_mut().for_each(Results::keep_service);
        print(&Event::Second { phase: &self.plan.name, from_s, to_s, operations });
        to
    }
}
