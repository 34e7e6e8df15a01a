//! Runs a plan of operations on any version of RocksDB, on LevelDB or on LMDB.
//!
//! The driver loads the store as a library and uses its C API. The plan is JSON on standard input,
//! and commands may follow it. Events and results are lines of JSON on standard output. The driver
//! is a process of its own: it loads one library, and ends without waiting for the threads of that
//! library.
//!
//! The key of an operation depends only on the seed, the client and the number of the operation.
//! The value depends only on the key. So gets can be checked without a list of the written records.

mod api;
mod arrivals;
mod blocks;
mod client;
mod clients;
mod commands;
mod cpu;
mod end;
mod engine;
mod events;
mod failure;
mod found;
mod keys;
mod kinds;
mod leveldb;
mod lmdb;
mod log;
mod opening;
mod pace;
mod plan;
mod random;
mod reading;
mod records;
mod samples;
mod session;
mod settings;
mod settle;
mod shared;
mod single_deletes;
mod store;
mod stores;
mod times;
mod usage;

use std::io::{stdin, BufReader, Read, Stdin};
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::Deserializer;

use crate::commands::Commands;
use crate::end::{end, prepare};
use crate::events::{end_with, print, Event};
use crate::failure::{Failure, Kind};
use crate::leveldb::LevelDb;
use crate::lmdb::Lmdb;
use crate::opening::RocksDb;
use crate::plan::{Phase, Plan};
use crate::settings::Engine;
use crate::stores::Store;

/// Carry out the plan on standard input, and end the process.
///
/// The exit code is 0, 1 for a plan that failed, 2 for a plan that cannot be read or asks for
/// something impossible, 101 for an error of the driver, 128 and more after a signal.
pub fn drive() -> ! {
    prepare();
    let mut input = BufReader::new(stdin());
    match read_plan(&mut input).and_then(|plan| carry_out(&plan, input)) {
        Ok(()) => end(0),
        Err(failure) => end_with(&failure),
    }
}

/// Read one JSON value, on one line or on several. What follows it stays in the input.
fn read_plan(input: &mut impl Read) -> Result<Plan, Failure> {
    let mut json = Deserializer::from_reader(input);
    let text = Box::<RawValue>::deserialize(&mut json)
        .map_err(|error| Kind::Plan.because(error.to_string()))?;
    reading::read(text.get())
}

fn carry_out(plan: &Plan, input: BufReader<Stdin>) -> Result<(), Failure> {
    // The store lives as long as the process, because the thread of commands never ends.
    let started = Instant::now();
    let store: &'static dyn Store = Box::leak(open(plan)?);
    let seconds = started.elapsed().as_secs_f64();
    let file = store.options_file()?;
    print(&Event::Opened { version: store.version(), seconds, file });
    for run in plan.runs() {
        clients::check(store, run)?;
    }
    let commands = Commands::answer(store, input);
    for phase in &plan.phases {
        print(&Event::Phase { phase: phase.name() });
        do_phase(store, phase)?;
    }
    let _no_more = commands.end();
    store.close()?;
    print(&Event::Ended { disk_write_bytes: usage::disk_write_bytes()? });
    Ok(())
}

/// Open the store of a plan: a new one, or an existing one if the plan says so.
fn open(plan: &Plan) -> Result<Box<dyn Store>, Failure> {
    Ok(match plan.engine {
        Engine::Rocksdb => Box::new(RocksDb::open(plan)?),
        Engine::Leveldb => Box::new(LevelDb::open(plan)?),
        Engine::Lmdb => Box::new(Lmdb::open(plan)?),
    })
}

fn do_phase(store: &dyn Store, phase: &Phase) -> Result<(), Failure> {
    match phase {
        Phase::Run(run) => clients::run(store, run)?,
        Phase::Flush {} => {
            let started = Instant::now();
            store.flush()?;
            print(&Event::Flushed { seconds: started.elapsed().as_secs_f64() });
        }
        Phase::Compact {} => {
            let started = Instant::now();
            store.compact()?;
            print(&Event::Compacted { seconds: started.elapsed().as_secs_f64() });
        }
        Phase::Settle { quiet_s, limit_s } => {
            let settled = settle::settle(store, *quiet_s, *limit_s)?;
            print(&Event::Settled { seconds: settled.seconds, judged_by: settled.judged_by });
        }
        Phase::Report {} => {
            print(&Event::Report { id: None, report: store.report()? });
        }
    }
    Ok(())
}
