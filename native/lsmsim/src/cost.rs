//! Costs of jobs: seconds of one core, and bytes that the device reads and writes.

use crate::load::Sample;
use crate::machine::Machine;
use crate::table::Sizes;
use crate::tree::File;

#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub cpu_s: f64,
    pub device_bytes: f64,
}

/// The costs of records of these sizes on a machine.
#[derive(Clone, Debug)]
pub struct Costs {
    pub machine: Machine,
    pub sizes: Sizes,
    /// Whether tables are written through mapped pages (`mmap_write`).
    pub mapped: bool,
    pub sample: Sample,
}

impl Costs {
    /// The number of records of a file.
    pub fn records(&self, file: &File) -> f64 {
        file.records.len() as f64 * self.sample.every as f64
    }

    /// Seconds of one put into memtables of `memtable_records` records. `logged`: with the WAL.
    pub fn put_s(&self, memtable_records: f64, logged: bool) -> f64 {
        let wal = if logged { self.sizes.batch * self.machine.wal_s_per_byte } else { 0.0 };
        self.machine.put_s + self.machine.memtable_s(memtable_records) + wal
    }

    /// The cost to write a file from memtables with `records` records.
    pub fn flush(&self, records: f64, file: &File) -> Cost {
        let each = self.machine.flush_s_per_record + self.machine.memtable_s(records);
        let written = self.written(file);
        Cost { cpu_s: self.machine.flush_s + each * records + written.cpu_s, ..written }
    }

    /// The cost to merge files into others.
    pub fn compaction<'a>(&self, inputs: impl Iterator<Item = &'a File>, outputs: &[File]) -> Cost {
        let machine = &self.machine;
        let begin = Cost { cpu_s: machine.compaction_s, device_bytes: 0.0 };
        let with_read = inputs.fold(begin, |so_far, file| so_far.plus(self.read(file)));
        outputs.iter().fold(with_read, |so_far, file| {
            let file_s = Cost { cpu_s: machine.file_s, device_bytes: 0.0 };
            so_far.plus(self.written(file)).plus(file_s)
        })
    }

    fn read(&self, file: &File) -> Cost {
        let (machine, bytes) = (&self.machine, file.bytes as f64);
        let records = self.records(file);
        let (plain, blocks) = (self.sizes.plain(records), self.sizes.blocks(records));
        let cpu_s = machine.compaction_s_per_record * records
            + machine.decompress_s(file.codec, plain, blocks)
            + machine.block_s * blocks
            + machine.read_s_per_byte * bytes;
        Cost { cpu_s, device_bytes: bytes }
    }

    fn written(&self, file: &File) -> Cost {
        let (machine, bytes) = (&self.machine, file.bytes as f64);
        let records = self.records(file);
        let (plain, blocks) = (self.sizes.plain(records), self.sizes.blocks(records));
        let cpu_s = machine.compress_s(file.codec, plain, blocks)
            + machine.block_s * blocks
            + machine.write_s(bytes, self.mapped);
        Cost { cpu_s, device_bytes: bytes }
    }
}

impl Cost {
    fn plus(self, other: Self) -> Self {
        Self {
            cpu_s: self.cpu_s + other.cpu_s,
            device_bytes: self.device_bytes + other.device_bytes,
        }
    }
}
