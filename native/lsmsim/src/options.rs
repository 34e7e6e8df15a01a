//! The options that the simulator knows, as db_bench spells them.

use serde::{Deserialize, Serialize};

use crate::codec::Codec;
use crate::version::Version;

/// How files are merged (`compaction_style`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(try_from = "u8")]
pub enum Style {
    Level,
    Universal,
    Fifo,
}

impl TryFrom<u8> for Style {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            0 => Ok(Self::Level),
            1 => Ok(Self::Universal),
            2 => Ok(Self::Fifo),
            other => Err(format!("compaction_style: {other} is not simulated; allowed: 0, 1, 2")),
        }
    }
}

/// Which file of a level is compacted first (`compaction_pri`).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(try_from = "u8")]
pub enum Priority {
    Largest,
    OldestLargestSequence,
    OldestSmallestSequence,
    LeastOverlap,
    RoundRobin,
}

impl TryFrom<u8> for Priority {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            0 => Ok(Self::Largest),
            1 => Ok(Self::OldestLargestSequence),
            2 => Ok(Self::OldestSmallestSequence),
            3 => Ok(Self::LeastOverlap),
            4 => Ok(Self::RoundRobin),
            other => Err(format!("compaction_pri: unknown value {other}; allowed: 0 to 4")),
        }
    }
}

/// The options, with the defaults of db_bench 7.8.3. Sizes are in bytes. Other options are ignored.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub struct Options {
    /// The version of RocksDB. It is not an option.
    #[serde(skip)]
    pub version: Version,

    pub write_buffer_size: u64,
    pub max_write_buffer_number: usize,
    pub min_write_buffer_number_to_merge: usize,
    pub disable_wal: bool,
    pub delayed_write_rate: u64,

    pub level0_file_num_compaction_trigger: usize,
    pub level0_slowdown_writes_trigger: usize,
    pub level0_stop_writes_trigger: usize,
    pub soft_pending_compaction_bytes_limit: u64,
    pub hard_pending_compaction_bytes_limit: u64,

    pub compaction_style: Style,
    pub compaction_pri: Priority,
    pub num_levels: usize,
    pub max_bytes_for_level_base: u64,
    pub max_bytes_for_level_multiplier: f64,
    pub level_compaction_dynamic_level_bytes: bool,
    pub target_file_size_base: u64,
    pub target_file_size_multiplier: u64,
    /// 0: 25 times the target file size.
    pub max_compaction_bytes: u64,
    pub disable_auto_compactions: bool,

    pub universal_size_ratio: u64,
    pub universal_min_merge_width: usize,
    pub universal_max_merge_width: usize,
    pub universal_max_size_amplification_percent: u64,
    pub universal_compression_size_percent: i64,

    /// 0: each compaction drops all files.
    pub fifo_max_table_files_size: u64,
    pub fifo_compaction_allow_compaction: bool,

    pub max_background_jobs: i64,
    pub max_background_compactions: i64,
    pub max_background_flushes: i64,
    pub subcompactions: usize,
    pub rate_limiter_bytes_per_sec: u64,

    pub compression_type: Codec,
    pub min_level_to_compress: i64,
    pub block_size: u64,
    pub mmap_write: bool,
    pub bloom_bits: f64,
    pub optimize_filters_for_hits: bool,

    pub cache_size: u64,
    pub cache_numshardbits: i64,
    pub cache_index_and_filter_blocks: bool,
    pub mmap_read: bool,
    pub open_files: i64,
}

impl Default for Options {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        Self {
            version: Version::default(),
            write_buffer_size: 64 * MIB,
            max_write_buffer_number: 2,
            min_write_buffer_number_to_merge: 1,
            disable_wal: false,
            delayed_write_rate: 8 * MIB,
            level0_file_num_compaction_trigger: 4,
            level0_slowdown_writes_trigger: 20,
            level0_stop_writes_trigger: 36,
            soft_pending_compaction_bytes_limit: 64 * GIB,
            hard_pending_compaction_bytes_limit: 128 * GIB,
            compaction_style: Style::Level,
            compaction_pri: Priority::LeastOverlap,
            num_levels: 7,
            max_bytes_for_level_base: 256 * MIB,
            max_bytes_for_level_multiplier: 10.0,
            level_compaction_dynamic_level_bytes: false,
            target_file_size_base: 64 * MIB,
            target_file_size_multiplier: 1,
            max_compaction_bytes: 0,
            disable_auto_compactions: false,
            universal_size_ratio: 0,
            universal_min_merge_width: 0,
            universal_max_merge_width: 0,
            universal_max_size_amplification_percent: 0,
            universal_compression_size_percent: -1,
            fifo_max_table_files_size: 0,
            fifo_compaction_allow_compaction: true,
            max_background_jobs: 2,
            max_background_compactions: -1,
            max_background_flushes: -1,
            subcompactions: 1,
            rate_limiter_bytes_per_sec: 0,
            compression_type: Codec::Snappy,
            min_level_to_compress: -1,
            block_size: 4096,
            mmap_write: false,
            bloom_bits: -1.0,
            optimize_filters_for_hits: false,
            cache_size: 8 * MIB,
            cache_numshardbits: -1,
            cache_index_and_filter_blocks: false,
            mmap_read: false,
            open_files: -1,
        }
    }
}

impl Options {
    /// Return the options as RocksDB runs them (`SanitizeOptions` in db/column_family.cc). db_bench
    /// takes 0 for the default of some options.
    pub fn sanitised(mut self) -> Self {
        self.write_buffer_size = self.write_buffer_size.max(64 << 10);
        self.max_write_buffer_number = self.max_write_buffer_number.max(2);
        self.min_write_buffer_number_to_merge =
            self.min_write_buffer_number_to_merge.clamp(1, self.max_write_buffer_number - 1);
        self.num_levels =
            self.num_levels.max(if self.compaction_style == Style::Level { 2 } else { 1 });
        if self.compaction_style == Style::Fifo {
            self.num_levels = 1;
            self.level0_slowdown_writes_trigger = usize::MAX;
            self.level0_stop_writes_trigger = usize::MAX;
        }
        let trigger = self.level0_file_num_compaction_trigger.max(1);
        self.level0_file_num_compaction_trigger = trigger;
        self.level0_slowdown_writes_trigger = self.level0_slowdown_writes_trigger.max(trigger);
        self.level0_stop_writes_trigger =
            self.level0_stop_writes_trigger.max(self.level0_slowdown_writes_trigger);
        let (soft, hard) =
            (self.soft_pending_compaction_bytes_limit, self.hard_pending_compaction_bytes_limit);
        if hard > 0 && (soft == 0 || soft > hard) {
            self.soft_pending_compaction_bytes_limit = hard;
        }
        if self.compaction_style != Style::Level {
            self.level_compaction_dynamic_level_bytes = false;
        }
        if self.max_compaction_bytes == 0 {
            self.max_compaction_bytes = self.target_file_size_base.saturating_mul(25);
        }
        self.universal_size_ratio = or(self.universal_size_ratio, 1);
        self.universal_min_merge_width = or(self.universal_min_merge_width as u64, 2) as usize;
        self.universal_max_merge_width =
            or(self.universal_max_merge_width as u64, u64::from(u32::MAX)) as usize;
        self.universal_max_size_amplification_percent =
            or(self.universal_max_size_amplification_percent, 200);
        self
    }

    /// The largest size of a file of a level. Files of level 0 have no limit.
    ///
    /// `MaxFileSizeForLevel` and `RefreshDerivedOptions` in options/cf_options.cc.
    pub fn target_file_bytes(&self, level: usize, base_level: usize) -> u64 {
        if level == 0 && self.compaction_style == Style::Universal {
            return u64::MAX;
        }
        let dynamic = self.level_compaction_dynamic_level_bytes && level >= base_level;
        let step = if dynamic { level - base_level } else { level };
        let power = step.saturating_sub(1).min(32) as u32;
        self.target_file_size_base
            .saturating_mul(self.target_file_size_multiplier.max(1).saturating_pow(power))
    }

    /// The codec of files that are written to a level: `GetCompressionType` in
    /// db/compaction/compaction_picker.cc.
    pub fn codec_of(&self, level: usize, base_level: usize) -> Codec {
        if self.min_level_to_compress < 0 {
            return self.compression_type;
        }
        let place = if level == 0 { 0 } else { level + 1 - base_level.max(1).min(level) };
        if (place.min(self.num_levels - 1) as i64) < self.min_level_to_compress {
            Codec::None
        } else {
            self.compression_type
        }
    }

    /// The codec of flushed files: `GetCompressionFlush` in db/flush_job.cc.
    pub fn flush_codec(&self) -> Codec {
        let plain = self.compaction_style == Style::Universal
            && self.universal_compression_size_percent >= 0;
        if plain {
            Codec::None
        } else {
            self.codec_of(0, 1)
        }
    }

    /// The numbers of flushes and of compactions that may run at once (`GetBGJobLimits`).
    ///
    /// Without `pressure`, only one compaction runs.
    pub fn job_limits(&self, pressure: bool) -> (usize, usize) {
        let (flushes, compactions) =
            if self.max_background_flushes == -1 && self.max_background_compactions == -1 {
                let flushes = (self.max_background_jobs / 4).max(1);
                (flushes, (self.max_background_jobs - flushes).max(1))
            } else {
                (self.max_background_flushes.max(1), self.max_background_compactions.max(1))
            };
        (flushes as usize, if pressure { compactions as usize } else { 1 })
    }
}

fn or(value: u64, default: u64) -> u64 {
    if value == 0 {
        default
    } else {
        value
    }
}
