//! Latencies as db_bench reports them: counts in buckets of whole microseconds. Percentiles are
//! interpolated within a bucket (monitoring/histogram.cc).

pub struct Histogram {
    limits: Vec<u64>,
    counts: Vec<u64>,
    least: u64,
    most: u64,
    sum: u64,
}

/// Longer than any read.
const LAST_LIMIT: f64 = 1e12;

impl Histogram {
    pub fn new() -> Self {
        let limits = limits();
        Self { counts: vec![0; limits.len()], limits, least: u64::MAX, most: 0, sum: 0 }
    }

    pub fn add(&mut self, micros: u64) {
        let bucket = self.limits.partition_point(|&limit| limit < micros);
        self.counts[bucket.min(self.limits.len() - 1)] += 1;
        self.least = self.least.min(micros);
        self.most = self.most.max(micros);
        self.sum += micros;
    }

    /// The mean; NaN if there are no latencies.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.counts.iter().sum::<u64>() as f64
    }

    /// The latency that a `share` of all latencies does not exceed.
    pub fn percentile(&self, share: f64) -> f64 {
        let wanted = self.counts.iter().sum::<u64>() as f64 * share;
        let mut before = 0.0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            let count = count as f64;
            if count > 0.0 && before + count >= wanted {
                let left = if bucket == 0 { 0.0 } else { self.limits[bucket - 1] as f64 };
                let right = self.limits[bucket] as f64;
                let drawn = left + (right - left) * (wanted - before) / count;
                return drawn.clamp(self.least as f64, self.most as f64);
            }
            before += count;
        }
        self.most as f64
    }
}

/// The upper ends of the buckets. Each is 1.5 times the one before, cut to two digits.
fn limits() -> Vec<u64> {
    let mut limits = vec![1, 2];
    let mut exact = 2.0;
    while exact < LAST_LIMIT {
        exact *= 1.5;
        let mut cut = exact as u64;
        let mut digits = 1;
        while cut / 10 > 10 {
            cut /= 10;
            digits *= 10;
        }
        limits.push(cut * digits);
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::{limits, Histogram};

    #[test]
    fn buckets_are_those_of_rocksdb() {
        let first = [1, 2, 3, 4, 6, 10, 15, 22, 34, 51, 76, 110, 170, 250, 380, 580, 870];
        assert_eq!(limits()[..first.len()], first);
    }

    #[test]
    fn percentiles_are_drawn_from_within_a_bucket() {
        let mut histogram = Histogram::new();
        for micros in [5, 5, 5, 8] {
            histogram.add(micros);
        }
        assert_eq!(histogram.percentile(0.75), 6.0);
        assert_eq!(histogram.percentile(0.375), 5.0);
        assert_eq!(histogram.mean(), 5.75);
    }
}
