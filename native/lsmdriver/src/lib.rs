//! Runs a plan of operations on any version of RocksDB.
//!
//! RocksDB is loaded as a library, through its C API. The plan is JSON on standard input; events
//! and results are lines of JSON on standard output. The driver is a process of its own: it loads
//! one library, and ends without waiting for the threads of that library.
//!
//! A record is a pure function of seed, client and number of the operation, and its value of its
//! key. So what is read can be checked without a list of what was written.

mod api;
mod client;
mod clients;
mod end;
mod events;
mod failure;
mod keys;
mod kinds;
mod log;
mod pace;
mod plan;
mod random;
mod records;
mod session;
mod settle;
mod shared;
mod single_deletes;
mod store;
mod times;

use std::io::{stdin, Read};
use std::time::Instant;

use crate::end::{end, end_with, prepare};
use crate::events::{tell, Event};
use crate::failure::{Failure, Kind};
use crate::plan::{Phase, Plan};
use crate::store::Store;

/// Carry out the plan on standard input, and end the process.
///
/// The exit code is 0, 1 for a plan that failed, 2 for a plan that cannot be read, 101 for an error
/// of the driver, 128 and more after a signal.
pub fn drive() -> ! {
    prepare();
    match read_plan().and_then(|plan| carry_out(&plan)) {
        Ok(()) => end(0),
        Err(failure) => end_with(&failure),
    }
}

fn read_plan() -> Result<Plan, Failure> {
    let mut text = String::new();
    match stdin().read_to_string(&mut text) {
        Ok(_) => Plan::read(&text),
        Err(error) => Err(Kind::Plan.because(error.to_string())),
    }
}

fn carry_out(plan: &Plan) -> Result<(), Failure> {
    let store = Store::open(plan)?;
    let (options_file, options) = store.options_file()?;
    tell(&Event::Opened { version: log::version(store.folder()), options_file, options });
    for run in plan.runs() {
        clients::check(&store, run)?;
    }
    for phase in &plan.phases {
        tell(&Event::Phase { phase: phase.name() });
        do_phase(&store, phase)?;
    }
    store.close()?;
    tell(&Event::Ended {});
    Ok(())
}

fn do_phase(store: &Store, phase: &Phase) -> Result<(), Failure> {
    match phase {
        Phase::Run(run) => clients::run(store, run)?,
        Phase::Flush {} => {
            let started = Instant::now();
            store.flush()?;
            tell(&Event::Flushed { seconds: started.elapsed().as_secs_f64() });
        }
        Phase::Settle { quiet_s, limit_s } => {
            let settled = settle::settle(store, *quiet_s, *limit_s)?;
            tell(&Event::Settled { seconds: settled.seconds, judged_by: settled.judged_by });
        }
        Phase::Report {} => {
            let (statistics, tables) = store.report()?;
            tell(&Event::Report { statistics, tables });
        }
    }
    Ok(())
}
