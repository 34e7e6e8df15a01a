//! Properties of all runs, for random options.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use crate::failure::Failure;
use crate::load::{Keys, Load, Name, Sample};
use crate::machine::Machine;
use crate::measurement::Measurement;
use crate::options::{Options, Priority, Style};
use crate::reads::Probe;
use crate::run::{observe, simulate, Trial};
use crate::tree::Tree;
use crate::version::Version;

const PROBE: Option<Probe> = Some(Probe { reads: 1000, scan_length: 10 });

fn options() -> impl Strategy<Value = Options> {
    let memtables = (64_u64 << 10..2 << 20, 2_usize..6, 1_usize..3);
    let level0 = (1_usize..8, 1_usize..24, 1_usize..40);
    let levels = (1_u64 << 20..16 << 20, 2.0..12.0, 2_usize..8, any::<bool>());
    let files = (128_u64 << 10..4 << 20, 1_u64..3, 0_u8..5, 0_u8..3);
    let jobs = (-1_i64..8, -1_i64..4, 1_usize..4, -1_i64..5);
    let version = prop::sample::select(vec![(7, 8), (8, 11), (11, 8)]);
    let jobs = (jobs, version);
    (memtables, level0, levels, files, jobs).prop_map(
        |(memtables, level0, levels, files, (jobs, version))| {
            Options {
                version: Version(version.0, version.1),
                write_buffer_size: memtables.0,
                max_write_buffer_number: memtables.1,
                min_write_buffer_number_to_merge: memtables.2,
                level0_file_num_compaction_trigger: level0.0,
                // At least two more than the trigger. Otherwise the last flush would wait forever
                // for universal compaction, which leaves a run.
                level0_slowdown_writes_trigger: 1 + level0.0 + level0.1,
                level0_stop_writes_trigger: 1 + level0.0 + level0.1 + level0.2,
                max_bytes_for_level_base: levels.0,
                max_bytes_for_level_multiplier: levels.1,
                num_levels: levels.2,
                level_compaction_dynamic_level_bytes: levels.3,
                target_file_size_base: files.0,
                target_file_size_multiplier: files.1,
                compaction_pri: Priority::try_from(files.2).unwrap(),
                compaction_style: Style::try_from(files.3).unwrap(),
                fifo_max_table_files_size: 1 << 30,
                max_background_compactions: jobs.0,
                max_background_flushes: jobs.1,
                subcompactions: jobs.2,
                min_level_to_compress: jobs.3,
                ..Options::default()
            }
        },
    )
}

fn load(name: Name, num: u64) -> Load {
    Load { name, num, value_size: 1024, ..Load::default() }
}

fn keys_of(tree: &Tree) -> BTreeSet<u32> {
    let files = tree.levels.iter().flatten();
    files.flat_map(|&id| tree.file(id).records.iter().map(|record| record.key())).collect()
}

/// Check the sums of the tree against its files.
fn check_sums(tree: &Tree) {
    for (level, ids) in tree.levels.iter().enumerate() {
        let idle: Vec<_> =
            ids.iter().copied().filter(|&id| !tree.file(id).being_compacted).collect();
        assert_eq!(tree.level_bytes(level), tree.bytes_of(ids));
        assert_eq!(tree.idle_bytes(level), tree.bytes_of(&idle));
        if level == 0 || level + 1 == tree.levels.len() {
            continue;
        }
        for &id in ids {
            let file = tree.file(id);
            let below = tree.levels[level + 1].iter().map(|&id| tree.file(id));
            let overlaps = below.filter(|other| {
                other.largest() >= file.smallest() && other.smallest() < file.largest()
            });
            let bytes: u64 = overlaps.map(|other| other.bytes).sum();
            assert_eq!(tree.overlapped_bytes(level, id), bytes);
        }
    }
}

fn check_sorted(tree: &Tree) {
    for ids in &tree.levels[1..] {
        for pair in ids.windows(2) {
            assert!(tree.file(pair[0]).largest() < tree.file(pair[1]).smallest());
        }
    }
    for pair in tree.levels[0].windows(2) {
        assert!(tree.file(pair[0]).newest > tree.file(pair[1]).newest);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn levels_are_sorted_keys_are_kept_and_time_goes_on(options in options(), seed in 0_u64..100) {
        let load = load(Name::Fillrandom, 20_000);
        let (mut now_s, mut last) = (0.0, BTreeSet::new());
        let machine = Machine::default();
        let trial = Trial { load: &load, options: &options, machine: &machine, seed, probe: PROBE, stop: None };
        let found = observe(trial, |moment| {
            assert!(moment.now_s >= now_s);
            now_s = moment.now_s;
            check_sorted(moment.tree);
            check_sums(moment.tree);
            if moment.jobs.is_empty() && moment.memtables == 0 {
                last = keys_of(moment.tree);
            }
        })
        .unwrap();
        let written: BTreeSet<u32> = Keys::new(&load, Sample { every: 1, keys: 20_000 }, seed).take(20_000).into_iter().map(|record| record.key()).collect();
        prop_assert_eq!(last, written);
        prop_assert!(found.load_s > 0.0 && found.settle_s >= 0.0);
        prop_assert!(found.live_sst_bytes <= found.flush_write_bytes + found.compact_write_bytes + 1.0);
        prop_assert!(found.peak_space_bytes >= found.live_sst_bytes);
    }

    #[test]
    fn the_same_seed_gives_the_same_run(options in options(), seed in 0_u64..100) {
        let load = load(Name::Fillrandom, 20_000);
        let machine = Machine::default();
        let trial = Trial { load: &load, options: &options, machine: &machine, seed, probe: PROBE, stop: None };
        prop_assert_eq!(simulate(trial), simulate(trial));
    }
}

fn run(load: &Load, options: &Options, machine: &Machine) -> Measurement {
    simulate(Trial { load, options, machine, seed: 1, probe: PROBE, stop: None }).unwrap()
}

fn without_reads(
    load: &Load,
    options: &Options,
    machine: &Machine,
) -> Result<Measurement, Failure> {
    simulate(Trial { load, options, machine, seed: 1, probe: None, stop: None })
}

#[test]
fn keys_in_order_are_written_once() {
    let load = load(Name::Fillseq, 100_000);
    let found = run(&load, &Options::default(), &Machine::default());
    assert_eq!(found.compact_write_bytes, 0.0);
}

#[test]
fn a_faster_machine_is_no_slower() {
    let options = Options { write_buffer_size: 1 << 20, ..Options::default() };
    let slow = Machine::default();
    let fast = Machine { cores: 8.0, ..Machine::default() };
    let load = load(Name::Fillrandom, 100_000);
    assert!(run(&load, &options, &fast).total_s <= run(&load, &options, &slow).total_s);
}

#[test]
fn filters_save_blocks_of_missing_gets_and_a_larger_cache_saves_blocks_that_were_read() {
    let load = load(Name::Fillrandom, 100_000);
    let reads = |options: &Options| run(&load, options, &Machine::default()).reads;
    let plain = Options { write_buffer_size: 1 << 20, cache_size: 1 << 20, ..Options::default() };
    let filtered = Options { bloom_bits: 10.0, ..plain.clone() };
    let cached = Options { cache_size: 64 << 20, ..plain.clone() };
    let (plain, filtered, cached) = (reads(&plain), reads(&filtered), reads(&cached));
    assert!(filtered["get_missing_mean_us"] < 0.5 * plain["get_missing_mean_us"]);
    assert!(cached["read_amp"] < 0.9 * plain["read_amp"]);
    assert!(cached["cache_hit_data"] > plain["cache_hit_data"]);
}

#[test]
fn overwrites_keep_all_keys_and_amplify_writes_more_than_the_load_before() {
    let overwrite = load(Name::Overwrite, 50_000);
    let small = Options {
        write_buffer_size: 1 << 20,
        max_bytes_for_level_base: 4 << 20,
        target_file_size_base: 1 << 20,
        ..Options::default()
    };
    let machine = Machine::default();
    let trial = Trial {
        load: &overwrite,
        options: &small,
        machine: &machine,
        seed: 1,
        probe: None,
        stop: None,
    };
    let (mut first, mut last) = (None, BTreeSet::new());
    let found = observe(trial, |moment| {
        first.get_or_insert_with(|| keys_of(moment.tree));
        last = keys_of(moment.tree);
    })
    .unwrap();
    assert_eq!(first, Some((0..50_000).collect()));
    assert_eq!(first, Some(last));
    assert!(found.write_amp > run(&load(Name::Fillrandom, 50_000), &small, &machine).write_amp);
}

#[test]
fn skewed_overwrites_amplify_writes_less() {
    let small = Options {
        write_buffer_size: 1 << 20,
        max_bytes_for_level_base: 4 << 20,
        target_file_size_base: 1 << 20,
        ..Options::default()
    };
    let written = |skew: Option<f64>| {
        let load = Load { write_skew: skew, ..load(Name::Overwrite, 50_000) };
        run(&load, &small, &Machine::default())
    };
    let (uniform, skewed) = (written(None), written(Some(10.8)));
    assert!(skewed.write_amp < 0.7 * uniform.write_amp);
    assert!(skewed.reads["read_amp"] < 0.7 * uniform.reads["read_amp"]);
}

#[test]
fn without_a_block_cache_each_block_is_read_and_there_are_no_hit_rates() {
    let load = load(Name::Fillrandom, 100_000);
    let reads = |cache_size: u64| {
        let options = Options { write_buffer_size: 1 << 20, cache_size, ..Options::default() };
        run(&load, &options, &Machine::default()).reads
    };
    let (without, with) = (reads(0), reads(64 << 20));
    assert!(without["read_amp"] > with["read_amp"]);
    assert!(!without.contains_key("cache_hit_data") && with.contains_key("cache_hit_data"));
}

#[test]
fn fifo_limits_bytes_and_reads_of_dropped_keys_fail() {
    let load = load(Name::Fillrandom, 50_000);
    let machine = Machine::default();
    let kept = Options {
        compaction_style: Style::Fifo,
        write_buffer_size: 1 << 20,
        fifo_max_table_files_size: 1 << 30,
        ..Options::default()
    };
    let most = 8 << 20;
    let dropping = Options { fifo_max_table_files_size: most, ..kept.clone() };
    let unread = |options: &Options| without_reads(&load, options, &machine).unwrap();
    let live = unread(&dropping).live_sst_bytes;
    assert!(live <= most as f64 && live > most as f64 / 2.0);
    let read = Trial {
        load: &load,
        options: &dropping,
        machine: &machine,
        seed: 1,
        probe: PROBE,
        stop: None,
    };
    assert!(matches!(simulate(read), Err(Failure::Lost { keys: 10_000..50_000 })));
    let plain = Options { fifo_compaction_allow_compaction: false, ..kept.clone() };
    assert_eq!(run(&load, &plain, &machine).compact_write_bytes, 0.0);
    assert!(run(&load, &kept, &machine).compact_write_bytes > 0.0);
}

#[test]
fn the_flush_after_a_load_waits_forever_if_nothing_can_be_merged() {
    let load = load(Name::Fillrandom, 50_000);
    let machine = Machine::default();
    let merging = Options {
        compaction_style: Style::Universal,
        write_buffer_size: 1 << 20,
        level0_slowdown_writes_trigger: 8,
        level0_stop_writes_trigger: 1000,
        universal_max_size_amplification_percent: 1_000_000,
        ..Options::default()
    };
    // At least seven and at most five runs are merged: no merge is possible.
    let stuck =
        Options { universal_min_merge_width: 7, universal_max_merge_width: 5, ..merging.clone() };
    assert_eq!(without_reads(&load, &stuck, &machine), Err(Failure::Stuck));
    assert!(without_reads(&load, &merging, &machine).is_ok());
}

#[test]
fn another_thread_can_stop_a_run() {
    let (machine, options, stop) = (Machine::default(), Options::default(), AtomicBool::new(true));
    for name in [Name::Fillrandom, Name::Overwrite] {
        let load = load(name, 50_000);
        let stop = Some(&stop);
        let trial =
            Trial { load: &load, options: &options, machine: &machine, seed: 1, probe: None, stop };
        assert_eq!(simulate(trial), Err(Failure::Stopped));
    }
}
