//! The times of operations, by kind.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::blocks::Blocks;
use crate::kinds::Operation;

/// A longer time is counted as this one.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Exact digits of a time, so its error is at most 1 %. One more digit would take ten times the
/// memory, and lsmtune measures the memory of the process.
const DIGITS: u8 = 2;
const NS_PER_US: f64 = 1000.0;
pub const US_PER_S: f64 = 1e6;

/// The result of an operation.
pub struct Done {
    pub began: Instant,
    pub took: Duration,
    pub records: u64,
    pub checked: u64,
}

/// Counts and times of operations, by kind.
#[derive(Clone, Default)]
pub struct Tally(BTreeMap<Operation, Count>);

#[derive(Clone)]
struct Count {
    /// From the begin to the end of an operation.
    service: Times,
    /// From its due time to its end. None without due times.
    response: Option<Times>,
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
    service: Option<Service>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Response>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Blocks>,
}

/// A histogram of times, with their exact sum.
#[derive(Clone)]
pub struct Times {
    histogram: Histogram<u64>,
    total: Duration,
}

#[derive(Debug, Serialize)]
struct Response {
    mean_us: f64,
    p50_us: f64,
    p99_us: f64,
    p999_us: f64,
    p9999_us: f64,
}

#[derive(Debug, Serialize)]
struct Service {
    mean_us: f64,
    p50_us: f64,
    p75_us: f64,
    p99_us: f64,
    p999_us: f64,
    p9999_us: f64,
    max_us: f64,
}

impl Tally {
    /// A tally for operations of these kinds. `due`: whether they have due times.
    pub fn of(kinds: impl Iterator<Item = Operation>, due: bool) -> Self {
        Self(kinds.map(|kind| (kind, Count::new(due))).collect())
    }

    /// Count an operation that began `late` after its due time. Its kind must be one of those of
    /// `of`.
    pub fn count(&mut self, kind: Operation, done: &Done, late: Duration) {
        let count = self.0.get_mut(&kind).expect("the tally is made for the kinds of the group");
        count.service.count(done.took);
        if let Some(response) = &mut count.response {
            response.count(late + done.took);
        }
        count.records += done.records;
        count.checked += done.checked;
    }

    /// Add the counts of another tally.
    pub fn add(&mut self, other: &Self) {
        for (kind, more) in &other.0 {
            let Some(count) = self.0.get_mut(kind) else {
                self.0.insert(*kind, more.clone());
                continue;
            };
            count.service.add(&more.service);
            match (&mut count.response, &more.response) {
                (Some(response), Some(more)) => response.add(more),
                (response, more) => *response = response.take().or_else(|| more.clone()),
            }
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

impl Times {
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Self { histogram: histogram.expect("the bounds are fine"), total: Duration::ZERO }
    }

    pub fn count(&mut self, time: Duration) {
        self.histogram.saturating_record(time.as_nanos() as u64);
        self.total += time;
    }

    pub fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all have the same bounds");
        self.total += other.total;
    }

    pub fn len(&self) -> u64 {
        self.histogram.len()
    }

    /// A quantile in microseconds, 0 without times.
    pub fn us(&self, quantile: f64) -> f64 {
        self.histogram.value_at_quantile(quantile) as f64 / NS_PER_US
    }

    fn clear(&mut self) {
        self.histogram.reset();
        self.total = Duration::ZERO;
    }

    fn mean_us(&self) -> f64 {
        self.total.as_secs_f64() * US_PER_S / self.len() as f64
    }
}

impl Results {
    /// Drop the response times.
    pub fn keep_service(&mut self) {
        self.response = None;
    }
}

impl Count {
    fn new(due: bool) -> Self {
        let response = due.then(Times::new);
        Self { service: Times::new(), response, records: 0, checked: 0 }
    }

    fn clear(&mut self) {
        self.service.clear();
        self.response.iter_mut().for_each(Times::clear);
        (self.records, self.checked) = (0, 0);
    }

    fn results(&self) -> Results {
        let service = &self.service;
        Results {
            count: service.len(),
            records: self.records,
            checked: self.checked,
            service: (service.len() > 0).then(|| Service {
                mean_us: service.mean_us(),
                p50_us: service.us(0.5),
                p75_us: service.us(0.75),
                p99_us: service.us(0.99),
                p999_us: service.us(0.999),
                p9999_us: service.us(0.9999),
                max_us: service.histogram.max() as f64 / NS_PER_US,
            }),
            response: self.response.as_ref().filter(|times| times.len() > 0).map(|times| {
                Response {
                    mean_us: times.mean_us(),
                    p50_us: times.us(0.5),
                    p99_us: times.us(0.99),
                    p999_us: times.us(0.999),
                    p9999_us: times.us(0.9999),
                }
            }),
            blocks: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_microseconds() {
        let mut tally = Tally::of([Operation::Put, Operation::Get].into_iter(), true);
        let began = Instant::now();
        for us in 1..=1000 {
            let done = Done { began, took: Duration::from_micros(us), records: 1, checked: 0 };
            tally.count(Operation::Put, &done, Duration::from_micros(1000));
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
        let response = &results["put"]["response"];
        assert!((response["mean_us"].as_f64().unwrap() - 1500.5).abs() < 1e-6);
        assert!((response["p99_us"].as_f64().unwrap() / 1990.0 - 1.0).abs() < 0.02);
        assert_eq!(results["get"]["count"], 0);
        assert!(results["get"].get("p50_us").is_none());
        tally.clear();
        assert_eq!(serde_json::to_value(tally.results()).unwrap()["put"]["count"], 0);
    }
}
