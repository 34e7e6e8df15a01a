//! FIFO compaction: the oldest files go (db/compaction/compaction_picker_fifo.cc).

use crate::compaction::Compaction;
use crate::options::Options;
use crate::tree::Tree;

pub fn pick(tree: &Tree, options: &Options) -> Option<Compaction> {
    let most = options.fifo_compaction_max_table_files_size_mb << 20;
    let mut bytes = tree.level_bytes(0);
    if bytes <= most || tree.any_being_compacted(&tree.levels[0]) {
        return None;
    }
    let mut dropped = Vec::new();
    for &id in tree.levels[0].iter().rev() {
        if bytes <= most {
            break;
        }
        bytes -= tree.file(id).bytes;
        dropped.push(id);
    }
    let range = tree.range_of(dropped.iter().copied())?;
    Some(Compaction {
        inputs: vec![(0, dropped)],
        output_level: 0,
        codec: options.codec_of(0, 1),
        target_file_bytes: u64::MAX,
        grandparents: Vec::new(),
        range,
        is_trivial_move: false,
        is_deletion: true,
    })
}
