"""Opens stores with OPTIONS files that RocksDB itself reads, in another process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.engines.libraries.natives import has_function
from lsmtune.engines.libraries.steps import Event, carry_out
from lsmtune.engines.rocksdb.option_string import option_string
from lsmtune.knobs.families import DATABASE_SECTION
from lsmtune.metrics.options_file import family_names, parse_options, replace_options

_READS_FILES = "rocksdb_load_latest_options"
"""The function of the C API that reads an OPTIONS file. RocksDB 6.29 does not have it."""
_FOLDERS = ("wal_dir", "db_log_dir")
_SEVERAL = {"db_paths": DATABASE_SECTION, "cf_paths": "CFOptions "}
"""Lists of folders, and the sections that may have them. No RocksDB reads them from a file, so a
file with one is refused. They are replaced all the same, because a later version may read them."""
_ONE_FILE = "OPTIONS-000001"


def folders_inside(text: str, folder: Path) -> tuple[str, tuple[str, ...]]:
    """Return an OPTIONS file whose options of folders name `folder`, and these options.

    The user's file may name folders of the running store. RocksDB would replay and delete the logs
    there. All other bytes stay as they are.
    """
    changes: dict[tuple[str, str], str] = {}
    for section, options in parse_options(text).sections.items():
        for key, value in options.items():
            if section == DATABASE_SECTION and key in _FOLDERS and value:
                changes[section, key] = str(folder)
            elif key in _SEVERAL and section.startswith(_SEVERAL[key]):
                changes[section, key] = f"{{{{path={folder};target_size=1099511627776}}}}"
    return replace_options(text, changes), tuple(dict.fromkeys(key for _, key in changes))


@dataclass(frozen=True, slots=True)
class Opener:
    """A library of RocksDB, a work directory, and the time limit of each opening in seconds."""

    library: Path
    folder: Path
    limit_s: float

    @property
    def reads_files(self) -> bool:
        """Whether RocksDB reads the files itself; otherwise, lsmtune does."""
        return has_function(self.library, _READS_FILES)

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
            plan["texts"] = {family: option_string(text, family) for family in names}
        return carry_out(plan, self.folder, name, self.limit_s)
