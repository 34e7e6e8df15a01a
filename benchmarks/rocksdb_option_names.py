"""Read the names of RocksDB's options from the sources of every version.

    .venv/bin/python benchmarks/rocksdb_option_names.py CLONE [VERSION ...]

CLONE is a git clone of RocksDB with its tags and release branches; without VERSION, all versions
are read. Adds to src/lsmtune/data/rocksdb_option_names.json: for each section of an OPTIONS file,
the names that any version reads in a text of options.
"""

import argparse
import json
import re
from pathlib import Path

from rocksdb_defaults import COMMENT, git, releases

DATA = Path(__file__).parents[1] / "src" / "lsmtune" / "data" / "rocksdb_option_names.json"
SOURCES = (
    "options/db_options.cc", "options/cf_options.cc", "options/options_helper.cc",
    "options/options_helper.h", "util/options_helper.h", "util/options_helper.cc",
    "table/block_based/block_based_table_factory.cc", "table/block_based_table_factory.cc",
)  # fmt: skip
"""Files with maps from names to types of options; each version has some of them."""
MAPS = {
    "DBOptions": r"db_(?:mutable_|immutable_)?options_type_info",
    "CFOptions": r"cf_(?:mutable_|immutable_)?options_type_info",
    "TableOptions/BlockBasedTable": r"\b(?:block_based_table_type_info|info)",
}
OUTSIDE_OF_MAPS = {
    "DBOptions": ("rate_limiter_bytes_per_sec", "env", "compaction_service", "db_paths",
                  "file_system", "info_log", "row_cache", "sst_file_checksum_func",
                  "sst_file_manager", "write_buffer_manager"),
    "CFOptions": ("block_based_table_factory", "plain_table_factory", "memtable", "comparator",
                  "compression_opts", "bottommost_compression_opts", "cf_paths",
                  "compaction_thread_limiter"),
    "TableOptions/BlockBasedTable": ("persistent_cache",),
}  # fmt: skip
"""Names that functions of options/options_helper.cc compare with, and options that are objects."""

_ENTRY = re.compile(r'\{\s*(?:"(\w+)"|(\w+)),')
_CONSTANT = re.compile(r'std::string (\w+) = "(\w+)"')


def names_in(text: str, pattern: str) -> set[str]:
    """Return the names in the maps of a source."""
    found: set[str] = set()
    text = COMMENT.sub("", text)
    constants = dict(_CONSTANT.findall(text))
    for head in re.finditer(rf"{pattern}\s*=\s*\{{", text):
        depth, at = 1, head.end()
        while depth and at < len(text):
            if depth == 1 and (entry := _ENTRY.match(text, at)):
                found.add(entry[1] or constants.get(entry[2], ""))
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
    return found - {""}


def main() -> None:
    """Read the versions and write the names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    parser.add_argument("version", nargs="*")
    arguments = parser.parse_args()
    known = json.loads(DATA.read_text()) if DATA.is_file() else {}
    names = {section: {*known.get(section, ()), *OUTSIDE_OF_MAPS.get(section, ())}
             for section in MAPS}  # fmt: skip
    for version, ref in releases(arguments.clone).items():
        if arguments.version and "{}.{}".format(*version) not in arguments.version:
            continue
        listed = git(arguments.clone, "ls-tree", "-r", "--name-only", ref, "options", "util",
                     "table")  # fmt: skip
        present = {*listed.split()} & {*SOURCES}
        texts = [git(arguments.clone, "show", f"{ref}:{path}") for path in sorted(present)]
        for section, pattern in MAPS.items():
            names[section].update(*(names_in(text, pattern) for text in texts))
    lines = (f"  {json.dumps(section)}: {json.dumps(sorted(found))}" for section, found in
             names.items())  # fmt: skip
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
