//! Commands that come while a plan runs: lines of JSON after the plan on standard input.

use std::io::BufRead;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use serde::Deserialize;
use serde_json::{from_slice, from_value, Value};

use crate::events::{end_with, print, Event};
use crate::failure::{Failure, Kind};
use crate::plan::default_family;
use crate::stores::{Options, Store};

/// A command. Each has an `id` in addition, which its answer repeats.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    /// Change options of a family.
    Change {
        #[serde(default = "default_family")]
        family: String,
        options: Options,
    },
    /// Change options of the database.
    ChangeDatabase { options: Options },
    /// Print the statistics since the store was opened.
    Report {},
}

/// The thread that answers commands.
pub struct Commands {
    /// Locked while a command uses the store.
    using: Arc<Mutex<()>>,
}

impl Commands {
    /// Answer commands until the process ends. The end of the input ends nothing.
    pub fn answer(store: &'static dyn Store, input: impl BufRead + Send + 'static) -> Self {
        let using = Arc::new(Mutex::new(()));
        let lock = Arc::clone(&using);
        thread::spawn(move || {
            for line in input.split(b'\n') {
                let line = line.unwrap_or_else(|error| {
                    end_with(&Kind::Plan.because(format!("standard input: {error}")))
                });
                if !line.trim_ascii().is_empty() {
                    let _guard = lock.lock().expect("a panic ends the process");
                    print(&answer(store, &line));
                }
            }
        });
        Self { using }
    }

    /// Wait for the running command. No other command begins while the result is kept.
    pub fn end(&self) -> MutexGuard<'_, ()> {
        self.using.lock().expect("a panic ends the process")
    }
}

fn answer(store: &dyn Store, line: &[u8]) -> Event<'static> {
    let mut value: Value = match from_slice(line) {
        Ok(value) => value,
        Err(error) => return Event::Refused { id: None, message: error.to_string() },
    };
    let id = value.as_object_mut().and_then(|fields| fields.remove("id")?.as_u64());
    let Some(id) = id else {
        return Event::Refused { id, message: "a command needs an id, a number".to_owned() };
    };
    let done = from_value(value)
        .map_err(|error| Kind::Plan.because(error.to_string()))
        .and_then(|command| carry_out(store, id, command));
    done.unwrap_or_else(|failure| Event::Refused { id: Some(id), message: failure.message })
}

fn carry_out(store: &dyn Store, id: u64, command: Command) -> Result<Event<'static>, Failure> {
    match command {
        Command::Change { family, options } => store.change(&family, &options)?,
        Command::ChangeDatabase { options } => store.change_database(&options)?,
        Command::Report {} => {
            return Ok(Event::Report { id: Some(id), report: store.report()? });
        }
    }
    Ok(Event::Changed { id, file: store.options_file()? })
}
