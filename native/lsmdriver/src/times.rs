//! How long operations took, by kind.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::kinds::Operation;

/// Longer times count as this one.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// A time is known to 1 %. A digit more takes ten times the memory, which counts as the store's.
const DIGITS: u8 = 2;
const NS_PER_US: f64 = 1000.0;
const US_PER_S: f64 = 1e6;

/// The operations of some clients in some time.
#[derive(Clone, Default)]
pub struct Tally(BTreeMap<Operation, Count>);

#[derive(Clone)]
struct Count {
    times: Histogram<u64>,
    total: Duration,
    records: u64,
    checked: u64,
}

/// The results of the operations of one kind. Without operations, there are no times.
#[derive(Debug, Serialize)]
pub struct Told {
    count: u64,
    /// Found by gets (also those of read-modify-writes), read by scans, written or deleted.
    records: u64,
    /// Gets whose value was compared.
    checked: u64,
    #[serde(flatten)]
    times: Option<Times>,
}

#[derive(Debug, Serialize)]
struct Times {
    mean_us: f64,
    p50_us: f64,
    p75_us: f64,
    p99_us: f64,
    p999_us: f64,
    p9999_us: f64,
    max_us: f64,
}

impl Tally {
    /// A tally for operations of these kinds.
    pub fn of(kinds: impl Iterator<Item = Operation>) -> Self {
        Self(kinds.map(|kind| (kind, Count::new())).collect())
    }

    /// Count an operation of one of the kinds.
    pub fn count(&mut self, kind: Operation, took: Duration, records: u64, checked: u64) {
        let count = self.0.get_mut(&kind).expect("the tally is made for the kinds of the group");
        count.times.saturating_record(took.as_nanos() as u64);
        count.total += took;
        count.records += records;
        count.checked += checked;
    }

    /// Add what another tally has counted.
    pub fn add(&mut self, other: &Self) {
        for (kind, more) in &other.0 {
            let Some(count) = self.0.get_mut(kind) else {
                self.0.insert(*kind, more.clone());
                continue;
            };
            count.times.add(&more.times).expect("all have the same bounds");
            count.total += more.total;
            count.records += more.records;
            count.checked += more.checked;
        }
    }

    /// Forget what was counted.
    pub fn clear(&mut self) {
        for count in self.0.values_mut() {
            count.clear();
        }
    }

    pub fn told(&self) -> BTreeMap<Operation, Told> {
        self.0.iter().map(|(&kind, count)| (kind, count.told())).collect()
    }
}

impl Count {
    fn new() -> Self {
        let times = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        let times = times.expect("the bounds are fine");
        Self { times, total: Duration::ZERO, records: 0, checked: 0 }
    }

    fn clear(&mut self) {
        self.times.reset();
        (self.total, self.records, self.checked) = (Duration::ZERO, 0, 0);
    }

    fn told(&self) -> Told {
        let times = &self.times;
        let us = |quantile| times.value_at_quantile(quantile) as f64 / NS_PER_US;
        Told {
            count: times.len(),
            records: self.records,
            checked: self.checked,
            times: (!times.is_empty()).then(|| Times {
                mean_us: self.total.as_secs_f64() * US_PER_S / times.len() as f64,
                p50_us: us(0.5),
                p75_us: us(0.75),
                p99_us: us(0.99),
                p999_us: us(0.999),
                p9999_us: us(0.9999),
                max_us: times.max() as f64 / NS_PER_US,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_microseconds() {
        let mut tally = Tally::of([Operation::Put, Operation::Get].into_iter());
        for us in 1..=1000 {
            tally.count(Operation::Put, Duration::from_micros(us), 1, 0);
        }
        let mut all = Tally::default();
        all.add(&tally);
        all.add(&tally);
        let told = serde_json::to_value(all.told()).unwrap();
        assert_eq!(told["put"]["count"], 2000);
        assert_eq!(told["put"]["records"], 2000);
        for (name, expected) in [("p50_us", 500.0), ("p99_us", 990.0), ("max_us", 1000.0)] {
            let found = told["put"][name].as_f64().unwrap();
            assert!((found / expected - 1.0).abs() < 0.02, "{name}: {found}");
        }
        assert!((told["put"]["mean_us"].as_f64().unwrap() - 500.5).abs() < 1e-6);
        assert_eq!(told["get"]["count"], 0);
        assert!(told["get"].get("p50_us").is_none());
        tally.clear();
        assert_eq!(serde_json::to_value(tally.told()).unwrap()["put"]["count"], 0);
    }
}
