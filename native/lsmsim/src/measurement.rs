//! The result of a run, by the names of lsmtune's metrics.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::load::Load;
use crate::options::Options;
use crate::table::Sizes;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measurement {
    pub write_amp: f64,
    pub wal_inclusive_write_amp: f64,
    pub w_amp_table: f64,
    pub live_sst_bytes: f64,
    pub peak_space_bytes: f64,
    pub flush_write_bytes: f64,
    pub compact_write_bytes: f64,
    pub stall_s: f64,
    pub stall_percent: f64,
    pub load_s: f64,
    pub settle_s: f64,
    pub total_s: f64,
    pub throughput_ops_s: f64,
    pub sustained_ops_s: f64,
    pub rate_mb_s: f64,
    pub compaction_cpu_s: f64,
    pub cpu_s: f64,
    /// Latencies and cache hits of the reads after the load; empty without reads.
    #[serde(flatten)]
    pub reads: BTreeMap<String, f64>,
}

/// Sums of a run.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    pub load_s: f64,
    pub total_s: f64,
    pub stall_s: f64,
    pub flushed_bytes: f64,
    pub compacted_bytes: f64,
    pub live_bytes: f64,
    pub peak_bytes: f64,
    pub compaction_cpu_s: f64,
    pub cpu_s: f64,
}

impl Totals {
    pub fn measurement(&self, load: &Load, options: &Options, sizes: &Sizes) -> Measurement {
        const MIB: f64 = (1 << 20) as f64;
        let records = load.operations();
        let user = records * sizes.batch;
        let tables = self.flushed_bytes + self.compacted_bytes;
        let wal = if options.disable_wal { 0.0 } else { user };
        let data = records * (load.key_size + load.value_size) as f64;
        Measurement {
            write_amp: tables / user,
            wal_inclusive_write_amp: (tables + wal) / user,
            w_amp_table: tables / self.flushed_bytes,
            live_sst_bytes: self.live_bytes,
            peak_space_bytes: self.peak_bytes,
            flush_write_bytes: self.flushed_bytes,
            compact_write_bytes: self.compacted_bytes,
            stall_s: self.stall_s,
            stall_percent: 100.0 * self.stall_s / self.load_s,
            load_s: self.load_s,
            settle_s: self.total_s - self.load_s,
            total_s: self.total_s,
            throughput_ops_s: records / self.load_s,
            sustained_ops_s: records / self.total_s,
            rate_mb_s: data / MIB / self.load_s,
            compaction_cpu_s: self.compaction_cpu_s,
            cpu_s: self.cpu_s,
            reads: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_in_mib() {
        let load = Load { num: 2 << 20, key_size: 16, value_size: 1008, ..Load::default() };
        let options = Options::default();
        let totals = Totals { load_s: 4.0, ..Totals::default() };
        let found = totals.measurement(&load, &options, &Sizes::new(&load, &options));
        assert_eq!(found.rate_mb_s, 512.0);
    }
}
