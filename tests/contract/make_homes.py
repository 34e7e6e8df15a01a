"""Make a home that every later version has to open: python tests/contract/make_homes.py HOME.

Each is made once, by the version that is named in `MADE`, and then kept as it is. Trials are
computed by rule, so that the same version makes the same bytes.
"""

import gzip
import json
import os
import resource
import shutil
import sqlite3
import sys
import tempfile
from contextlib import chdir, suppress
from importlib.metadata import version as version_of
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]

from recorded_studies import (  # noqa: E402
    OPTIONS_OF_USER,
    STUDIES,
    USER_FILE,
    Recorded,
)

from fakes.recorded_home import HOMES, OPEN_FILES  # noqa: E402
from fakes.studies import open_study  # noqa: E402
from lsmtune.engines.base import LiveEngine  # noqa: E402
from lsmtune.store.home import Home  # noqa: E402
from lsmtune.study.online import tune_online  # noqa: E402
from lsmtune.study.screen import screen  # noqa: E402
from lsmtune.study.search import run_search  # noqa: E402
from lsmtune.study.simplify import simplify_new_winner  # noqa: E402
from lsmtune.study.sweep import sweep  # noqa: E402
from lsmtune.study.verify import verify_contenders  # noqa: E402

HOST = {
    "cpu_model": "Example CPU", "logical_cpus": 2, "usable_cpus": 2, "memory_bytes": 8 << 30,
    "kernel": "6.1.0", "machine": "x86_64", "os_name": "Example Linux", "boot_id": "0",
    "max_open_files": OPEN_FILES,
    "storage": {"fs_type": "ext4", "device": None, "free_bytes": 64 << 30, "rotational": False},
}  # fmt: skip
CREATED = "2026-01-01T00:00:00.000+00:00"
MADE_BY = {"0.2.0": "0.2.0", "removed-optimizers": "0.2.0", "0.3.0.dev0": "0.2.0"}
"""The installed version that makes the home of a version; one before a release has the number of
the release before."""
WITH_EVIDENCE = ("verified", "sized")
"""Studies whose first trial keeps its evidence in the home."""


def add(home: Home, study: Recorded) -> None:
    """Run one study; an interruption by its script ends it."""
    spec, engine = study.spec, study.engine()
    with suppress(KeyboardInterrupt), open_study(home, spec, engine, lambda _: None) as opened:
        if spec.screen is not None:
            screen(opened, spec.screen)
        elif spec.sweep is not None:
            sweep(opened, spec.sweep)
        elif spec.online is not None:
            assert isinstance(engine, LiveEngine)
            tune_online(opened, engine, spec.online, lambda _: None)
        else:
            run_search(opened)
            if spec.simplify:
                simplify_new_winner(opened)
            if spec.pairs:
                verify_contenders(opened)


def main(name: str) -> None:
    """Write the home of that name, which the installed version must be able to make."""
    if MADE_BY.get(name) != (installed := version_of("lsmtune")):
        sys.exit(f"HOME: {name} cannot be made by lsmtune {installed}")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))
    with tempfile.TemporaryDirectory() as temporary, chdir(temporary):
        tempfile.tempdir = temporary
        os.environ["XDG_STATE_HOME"] = temporary
        Path(USER_FILE).write_text(OPTIONS_OF_USER)
        made = Path(temporary) / "home"
        with Home(made, create=True) as home:
            for study in STUDIES[name]().values():
                add(home, study)
        _tidy(made)
        folder = HOMES / name
        if folder.exists():
            shutil.rmtree(folder)
        shutil.move(made, folder)


def _tidy(folder: Path) -> None:
    """Leave the packed database, with facts of no machine, and the evidence of one trial."""
    with sqlite3.connect(folder / "lsmtune.sqlite3") as database:
        database.execute("UPDATE study SET host = ?, created_at = ?", (json.dumps(HOST), CREATED))
        database.execute("UPDATE verification SET created_at = ?", (CREATED,))
        database.execute("UPDATE trial SET started_at = ?, duration_s = 1.0", (CREATED,))
    database.close()
    database = sqlite3.connect(folder / "lsmtune.sqlite3", isolation_level=None)
    database.execute("PRAGMA journal_mode = DELETE")
    database.execute("VACUUM")
    database.close()
    data = (folder / "lsmtune.sqlite3").read_bytes()
    (folder / "lsmtune.sqlite3.gz").write_bytes(gzip.compress(data, mtime=0))
    (folder / "lsmtune.sqlite3").unlink()
    for study in (folder / "evidence").iterdir():
        for trial in study.iterdir():
            if study.name not in WITH_EVIDENCE or trial.name != "00001":
                shutil.rmtree(trial)
        if study.name not in WITH_EVIDENCE:
            study.rmdir()
    for packed in folder.glob("evidence/*/*/*.gz"):
        # The time in the file would be that of the run.
        packed.write_bytes(gzip.compress(gzip.decompress(packed.read_bytes()), mtime=0))
    for leftover in (*folder.glob("*.lock"), *folder.glob("work/*")):
        leftover.unlink()
    for leftover in ("work", "templates"):
        if (folder / leftover).exists():
            (folder / leftover).rmdir()


if __name__ == "__main__":
    main(sys.argv[1])
