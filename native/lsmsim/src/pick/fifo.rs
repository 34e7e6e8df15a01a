//! FIFO compaction: it drops the oldest files and merges small ones
//! (db/compaction/compaction_picker_fifo.cc).

use super::{newest_of_level0, Running};
use crate::compaction::Compaction;
use crate::options::Options;
use crate::tree::{FileId, Tree};

pub fn pick(tree: &Tree, options: &Options, running: &Running) -> Option<Compaction> {
    let most = options.fifo_max_table_files_size;
    let is_deletion = tree.level_bytes(0) > most;
    let files = match is_deletion {
        true if !running.takes_level0() => oldest_beyond(tree, most),
        false if options.fifo_compaction_allow_compaction => {
            // A file that is clearly larger than a memtable was merged before.
            let most_bytes = (options.write_buffer_size as f64 * 1.1) as u64;
            newest_of_level0(tree, options, options.level0_file_num_compaction_trigger, most_bytes)?
        }
        _ => return None,
    };
    let range = tree.range_of(files.iter().copied())?;
    Some(Compaction {
        inputs: vec![(0, files)],
        output_level: 0,
        codec: options.compression_type,
        target_file_bytes: u64::MAX,
        grandparents: Vec::new(),
        range,
        is_trivial_move: false,
        is_deletion,
    })
}

/// The oldest files of level 0: as many as must go until the others have at most `most` bytes.
fn oldest_beyond(tree: &Tree, most: u64) -> Vec<FileId> {
    let mut bytes = tree.level_bytes(0);
    let mut oldest = Vec::new();
    for &id in tree.levels[0].iter().rev() {
        if bytes <= most {
            break;
        }
        bytes -= tree.file(id).bytes;
        oldest.push(id);
    }
    oldest
}
