//! Tests of rules that changed: what older and newer versions compact in the same tree.

use crate::codec::Codec;
use crate::compaction::Compaction;
use crate::controller::{Backlog, Controller};
use crate::options::{Options, Style};
use crate::pick::{pick, Cursors, Running};
use crate::shape::Shape;
use crate::tree::{File, FileId, Record, Tree};
use crate::version::Version;

const MIB: u64 = 1 << 20;
const LEVELS: usize = 5;
const BEFORE: Version = Version(7, 8);
const NEW: Version = Version(11, 8);
/// Smallest and largest key of a file.
type Keys = (u32, u32);
const ALL: Keys = (0, 100);

fn options(version: Version) -> Options {
    let soft_pending_compaction_bytes_limit = 64 << 30;
    Options {
        version,
        num_levels: LEVELS,
        soft_pending_compaction_bytes_limit,
        ..Options::default()
    }
    .sanitised()
}

/// Make a tree of files with their levels. Files of level 0 come from the oldest to the newest.
fn tree(files: &[(usize, Keys, u64)]) -> Tree {
    let mut tree = Tree::new(LEVELS);
    for (sequence, &(level, (smallest, largest), bytes)) in files.iter().enumerate() {
        let record = |key| Record::new(key, sequence as u32 + 1);
        let records = vec![record(smallest), record(largest)];
        let id = tree.create(File::new(records, bytes, Codec::None, false));
        tree.insert(level, &[id]);
    }
    tree
}

fn picked(tree: &Tree, options: &Options) -> Option<Compaction> {
    let shape = Shape::of(tree, options);
    pick(tree, &shape, options, &Running::default(), &mut Cursors::new(LEVELS))
}

fn taken(tree: &Tree, options: &Options) -> Vec<FileId> {
    picked(tree, options).map_or(Vec::new(), |compaction| compaction.files().collect())
}

#[test]
fn files_of_a_small_level0_are_merged_with_each_other() {
    let small = [(1, ALL, 500 * MIB), (0, ALL, MIB), (0, ALL, MIB), (0, ALL, MIB)];
    let options = |version| Options {
        level0_file_num_compaction_trigger: 2,
        max_bytes_for_level_base: 600 * MIB,
        ..options(version)
    };
    let output = |version, files: &[_]| {
        let compaction = picked(&tree(files), &options(version)).unwrap();
        (compaction.output_level, compaction.files().count())
    };
    assert_eq!(output(BEFORE, &small), (1, 4));
    assert_eq!(output(NEW, &small), (0, 3));
    let large = [(1, ALL, 500 * MIB), (0, ALL, MIB), (0, ALL, MIB), (0, ALL, 100 * MIB)];
    assert_eq!(output(NEW, &large), (1, 4));
}

#[test]
fn a_level_that_the_data_do_not_need_is_drained() {
    let tree = tree(&[(4, ALL, 4 * MIB), (3, ALL, MIB)]);
    let options =
        |version| Options { level_compaction_dynamic_level_bytes: true, ..options(version) };
    assert!(picked(&tree, &options(BEFORE)).is_none());
    let compaction = picked(&tree, &options(NEW)).unwrap();
    assert_eq!((compaction.start_level(), compaction.output_level), (3, 4));
}

#[test]
fn more_files_from_above_may_double_the_limit() {
    let tree = tree(&[(2, (0, 20), 100 * MIB), (1, (0, 9), 11 * MIB), (1, (11, 20), 10 * MIB)]);
    let options = |version| Options {
        max_bytes_for_level_base: MIB,
        max_compaction_bytes: 80 * MIB,
        ..options(version)
    };
    assert_eq!(taken(&tree, &options(BEFORE)).len(), 2);
    assert_eq!(taken(&tree, &options(NEW)), [1, 2, 0]);
}

#[test]
fn large_debt_is_compared_with_the_bottommost_files() {
    let presses = |version, pending_bytes| {
        let options = options(version);
        let mut controller = Controller::new(&options);
        let bottommost_bytes = 2048 * MIB;
        let backlog = Backlog { memtables: 0, runs: 0, pending_bytes, bottommost_bytes };
        controller.recalculate(backlog, &options);
        controller.pressure
    };
    // An eighth is 256 MiB, two level bases are 512 MiB, a quarter of the limit is 16 GiB.
    for (version, debt) in [(BEFORE, 16384), (Version(8, 11), 256), (NEW, 512)] {
        assert!(presses(version, debt * MIB));
        assert!(!presses(version, (debt - 1) * MIB));
    }
}

fn universal(version: Version) -> Options {
    Options {
        compaction_style: Style::Universal,
        level0_stop_writes_trigger: 5,
        ..options(version)
    }
}

#[test]
fn a_universal_compaction_near_the_stop_leaves_out_small_new_runs() {
    let sizes = [(4, ALL, 20), (0, ALL, 50), (0, ALL, 1), (0, ALL, 1), (0, ALL, 1)];
    let tree = tree(&sizes.map(|(level, keys, mib)| (level, keys, mib * MIB)));
    assert_eq!(taken(&tree, &universal(BEFORE)), [4, 3, 2, 1, 0]);
    assert_eq!(taken(&tree, &universal(NEW)), [1, 0]);
    let far = Options { level0_stop_writes_trigger: 1000, ..universal(NEW) };
    let far = Options { universal_max_merge_width: 8, ..far };
    assert_eq!(taken(&tree, &far), [4, 3, 2, 1, 0]);
}

#[test]
fn a_universal_compaction_takes_idle_runs_after_a_run_being_compacted() {
    let sizes = [(4, ALL, 20), (0, ALL, 50), (0, ALL, 5), (0, ALL, 5), (0, ALL, 5), (0, ALL, 1)];
    let mut tree = tree(&sizes.map(|(level, keys, mib)| (level, keys, mib * MIB)));
    tree.mark_being_compacted(0, &[3]);
    assert_ne!(taken(&tree, &universal(BEFORE)), [2, 1, 0]);
    let far = Options { level0_stop_writes_trigger: 36, ..universal(NEW) };
    let far = Options { universal_max_merge_width: 8, ..far };
    assert_eq!(taken(&tree, &far), [2, 1, 0]);
}
