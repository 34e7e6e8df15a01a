//! What holds in every run, whatever the options.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::load::{Keys, Load, Name};
use crate::machine::Machine;
use crate::options::{Options, Priority, Style};
use crate::run::{observe, simulate};
use crate::tree::Tree;

fn options() -> impl Strategy<Value = Options> {
    let memtables = (64_u64 << 10..2 << 20, 2_usize..6, 1_usize..3);
    let level0 = (1_usize..8, 1_usize..24, 1_usize..40);
    let levels = (1_u64 << 20..16 << 20, 2.0..12.0, 2_usize..8, any::<bool>());
    let files = (128_u64 << 10..4 << 20, 1_u64..3, 0_u8..5, 0_u8..2);
    let jobs = (-1_i64..8, -1_i64..4, 1_usize..4, -1_i64..5);
    (memtables, level0, levels, files, jobs).prop_map(|(memtables, level0, levels, files, jobs)| {
        Options {
            write_buffer_size: memtables.0,
            max_write_buffer_number: memtables.1,
            min_write_buffer_number_to_merge: memtables.2,
            level0_file_num_compaction_trigger: level0.0,
            // One more than the trigger at least: else universal compaction stops writes for ever.
            level0_slowdown_writes_trigger: level0.0 + level0.1,
            level0_stop_writes_trigger: level0.0 + level0.1 + level0.2,
            max_bytes_for_level_base: levels.0,
            max_bytes_for_level_multiplier: levels.1,
            num_levels: levels.2,
            level_compaction_dynamic_level_bytes: levels.3,
            target_file_size_base: files.0,
            target_file_size_multiplier: files.1,
            compaction_pri: Priority::try_from(files.2).unwrap(),
            compaction_style: Style::try_from(files.3).unwrap(),
            max_background_compactions: jobs.0,
            max_background_flushes: jobs.1,
            subcompactions: jobs.2,
            min_level_to_compress: jobs.3,
            ..Options::default()
        }
    })
}

fn load(name: Name, num: u64) -> Load {
    Load { name, num, value_size: 1024, ..Load::default() }
}

fn keys_of(tree: &Tree) -> BTreeSet<u32> {
    let files = tree.levels.iter().flatten();
    files.flat_map(|&id| tree.file(id).records.iter().map(|record| record.key())).collect()
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
        let found = observe(&load, &options, &Machine::default(), seed, |moment| {
            assert!(moment.now_s >= now_s);
            now_s = moment.now_s;
            check_sorted(moment.tree);
            if moment.jobs.is_empty() && moment.memtables == 0 {
                last = keys_of(moment.tree);
            }
        })
        .unwrap();
        let written: BTreeSet<u32> = Keys::new(&load, seed).take(20_000).into_iter().map(|record| record.key()).collect();
        prop_assert_eq!(last, written);
        prop_assert!(found.load_s > 0.0 && found.settle_s >= 0.0);
        prop_assert!(found.live_sst_bytes <= found.flush_write_bytes + found.compact_write_bytes + 1.0);
        prop_assert!(found.peak_space_bytes >= found.live_sst_bytes);
    }

    #[test]
    fn the_same_seed_gives_the_same_run(options in options(), seed in 0_u64..100) {
        let load = load(Name::Fillrandom, 20_000);
        let run = || simulate(&load, &options, &Machine::default(), seed).unwrap();
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn keys_in_order_are_written_once() {
    let found =
        simulate(&load(Name::Fillseq, 100_000), &Options::default(), &Machine::default(), 1)
            .unwrap();
    assert_eq!(found.compact_write_bytes, 0.0);
}

#[test]
fn a_faster_machine_is_no_slower() {
    let options = Options { write_buffer_size: 1 << 20, ..Options::default() };
    let slow = Machine::default();
    let fast = Machine { cores: 8.0, ..Machine::default() };
    let load = load(Name::Fillrandom, 100_000);
    let total = |machine| simulate(&load, &options, machine, 1).unwrap().total_s;
    assert!(total(&fast) <= total(&slow));
}
