"""Opens stores with OPTIONS files that RocksDB itself reads, in another process.

A file that lsmtune's own parser reads proves nothing about RocksDB.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.engines.libraries.natives import has_function
from lsmtune.engines.libraries.steps import Event, carry_out
from lsmtune.engines.rocksdb.options import option_string
from lsmtune.knobs.families import DATABASE_SECTION
from lsmtune.metrics.options_file import family_names, parse_options, replace_options

_READS_FILES = "rocksdb_load_latest_options"
"""The function of the C API that reads an OPTIONS file. RocksDB 6.29 does not have it."""
_FOLDERS = ("wal_dir", "db_log_dir")
_LISTS = re.compile(r"^[ \t]*(db_paths|cf_paths)[ \t]*=.*\n?", re.MULTILINE)
"""Lists of folders. No RocksDB reads them from a file: it refuses a file with such a line."""
LISTS_LEFT_OUT = (
    "RocksDB refuses an OPTIONS file with db_paths or cf_paths, so your program must read these "
    "lines itself; the rehearsal left them out"
)
_TEXT_ONLY = (
    "this version of RocksDB cannot read an OPTIONS file through its C API, so lsmtune read the "
    "files and gave RocksDB each option; not shown: that RocksDB reads these files"
)
_ONE_FILE = "OPTIONS-000001"
_CLASSES, _NONE = ("comparator", "merge_operator"), ("", "nullptr")


def folders_inside(text: str, folder: Path) -> tuple[str, tuple[str, ...]]:
    """Return an OPTIONS file whose options of folders name `folder`, and the changed options.

    The user's file may name folders of the running store. RocksDB would replay and delete the logs
    there. All other bytes stay as they are.
    """
    options = parse_options(text).sections.get(DATABASE_SECTION, {})
    named = [key for key in _FOLDERS if options.get(key)]
    lists = _LISTS.findall(text)
    changed = replace_options(text, {(DATABASE_SECTION, key): str(folder) for key in named})
    return _LISTS.sub("", changed), tuple(dict.fromkeys([*named, *lists]))


@dataclass(frozen=True, slots=True)
class Opener:
    """A library of RocksDB, a work directory, and the time limit of each opening in seconds.

    `with_classes` says whether stores have the comparators and merge operators of the files. Stores
    that lsmtune made have none. It matters only if lsmtune reads the files.
    """

    library: Path
    folder: Path
    limit_s: float
    with_classes: bool = False

    @property
    def reads_files(self) -> bool:
        """Whether RocksDB reads the files itself; otherwise, lsmtune does."""
        return has_function(self.library, _READS_FILES)

    def remarks(self, replaced: Collection[str]) -> tuple[str, ...]:
        """Return what an opening does not show, because RocksDB does not get the file as it is."""
        lists = any(key.endswith("_paths") for key in replaced)
        return (
            *([] if self.reads_files else [_TEXT_ONLY]),
            *([LISTS_LEFT_OUT] if lists else []),
        )

    def open(
        self,
        name: str,
        store: Path,
        options: str,
        steps: Sequence[Mapping[str, Any]],
        **more: bool,
    ) -> list[Event]:
        """Open a store with the text of an OPTIONS file, carry out steps, close; return the events.

        `name` is that of the files of this opening; `more` are other keys of the plan.
        StepFailedError if RocksDB refuses the file or the store, or if a step fails.
        """
        text = folders_inside(options, store)[0]
        plan = {"library": str(self.library), "folder": str(store), "steps": steps, **more}
        if self.reads_files:
            place = self.folder / f"{name}-options"
            place.mkdir()
            (place / _ONE_FILE).write_text(text)
            plan["options"] = str(place)
        else:
            names = family_names(parse_options(text).sections)
            plan["texts"] = {
                family: option_string(text, family) + self._classes(text, family)
                for family in names
            }
        return carry_out(plan, self.folder, name, self.limit_s)

    def _classes(self, text: str, family: str) -> str:
        options = parse_options(text).sections[f'CFOptions "{family}"']
        named = [f"{key}={options[key]};" for key in _CLASSES if options.get(key, "") not in _NONE]
        return "".join(named) if self.with_classes else ""
