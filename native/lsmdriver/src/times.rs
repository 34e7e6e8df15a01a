//! The times of operations, by kind.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::kinds::Operation;

/// A longer time is counted as this one.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Exact digits of a time, so its error is at most 1 %. One more digit would take ten times the
/// memory, and lsmtune measures the memory of the process.
const DIGITS: u8 = 2;
const NS_PER_US: f64 = 1000.0;
const US_PER_S: f64 = 1e6;

/// Counts and times of operations, by kind.
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
pub struct Results {
    count: u64,
    /// Records that gets and read-modify-writes have found, that scans have read, or that other
    /// operations have written or deleted.
    records: u64,
    /// The number of values that were compared with those written.
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

    /// Count an operation. Its kind must be one of those of `of`.
    pub fn count(&mut self, kind: Operation, took: Duration, records: u64, checked: u64) {
        let count = self.0.get_mut(&kind).expect("the tally is made for the kinds of the group");
        count.times.saturating_record(took.as_nanos() as u64);
        count.total += took;
        count.records += records;
        count.checked += checked;
    }

    /// Add the counts of another tally.
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

    /// Set all counts to zero.
    pub fn clear(&mut self) {
        for count in self.0.values_mut() {
            count.clear();
        }
    }

    pub fn results(&self) -> BTreeMap<Operation, Results> {
        self.0.iter().map(|(&kind, count)| (kind, count.results())).collect()
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

    fn results(&self) -> Results {
        let times = &self.times;
        let us = |quantile| times.value_at_quantile(quantile) as f64 / NS_PER_US;
        Results {
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
    fn times_are_in_microseconds() {
        let mut tally = Tally::of([Operation::Put, Operation::Get].into_iter());
        for us in 1..=1000 {
            tally.count(Operation::Put, Duration::from_micros(us), 1, 0);
        }
        let mut all = Tally::default();
        all.add(&tally);
        all.add(&tally);
        let results = serde_json::to_value(all.results()).unwrap();
        assert_eq!(results["put"]["count"], 2000);
        assert_eq!(results["put"]["records"], 2000);
        for (name, expected) in [("p50_us", 500.0), ("p99_us", 990.0), ("max_us", 1000.0)] {
            let found = results["put"][name].as_f64().unwrap();
            assert!((found / expected - 1.0).abs() < 0.02, "{name}: {found}");
        }
        assert!((results["put"]["mean_us"].as_f64().unwrap() - 500.5).abs() < 1e-6);
        assert_eq!(results["get"]["count"], 0);
        assert!(results["get"].get("p50_us").is_none());
        tally.clear();
        assert_eq!(serde_json::to_value(tally.results()).unwrap()["put"]["count"], 0);
    }
}
