"""The settings of screenings, sweeps and comparisons: the steps of `resolve` that they need.

They run no search, so they have no default optimizer, and no study NAME-2 starts from their runs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsmtune.api.consent import Consent, nobody_to_ask
from lsmtune.api.continue_study import StoredStudies
from lsmtune.api.resolve import (
    Request,
    Resolved,
    given_settings,
    name_ranked_knobs,
)
from lsmtune.api.rocksdb_version import name_rocksdb
from lsmtune.batch import read_batch
from lsmtune.errors import Argument, UserError
from lsmtune.progress import Observer
from lsmtune.spec import catalogue_of, make_spec
from lsmtune.spec_defaults import NO_MEMORY_LIMIT, WITHOUT_SEARCH, with_first_version
from lsmtune.study.screen import usable_lines

_CONFIGS = 200
_OF_SEARCHES = (
    "knobs", "objective", "limits", "optimizer", "warm_start", "trials", "budget", "until",
    "early_stop", "base_runs", "finalists", "repeats", "simplify", "pairs", "max_pairs", "screen",
)  # fmt: skip


def resolve_screening(
    request: Request,
    table: Mapping[str, Any],
    home: Path,
    *,
    consent: Consent = nobody_to_ask,
) -> Resolved:
    """Return the settings of a screening; `table` replaces values of its table [screen].

    None in `table` counts as not given. UserError for settings that cannot be used.
    """
    remarks: list[str] = []
    stated = {key: value for key, value in table.items() if value is not None}
    settings = with_screen(given_settings(request, consent), stated)
    with StoredStudies(home, consent) as stored:
        name_rocksdb(settings, request.keys, stored.settings, remarks.append)
    names = request.flag_names
    if request.flags:
        names |= {f"screen.{key}": f"--{key}" for key in stated}
    return Resolved(make_spec(settings, request.where, names), None, tuple(remarks))


def resolve_sweep(request: Request, home: Path, *, consent: Consent = nobody_to_ask) -> Resolved:
    """Return the settings of an experiment: of a study file with a table [sweep], or of keys.

    The study has the name of the file, if neither file nor keys name it. UserError for settings
    that cannot be used.
    """
    remarks: list[str] = []
    given = given_settings(request, consent)
    if not isinstance(given.get("sweep"), dict):
        raise UserError(f"{request.where}: the table [sweep] is missing; add [sweep] with factors")
    for key in _OF_SEARCHES:
        if key in given:
            raise UserError(
                f"{request.where}: {key}: not allowed with [sweep], because `lsmtune sweep` "
                f"measures all combinations; remove {key}"
            )
    named = {} if request.study_file is None else {"study": request.study_file.stem}
    settings = {
        **named, "scale": "1", "memory": NO_MEMORY_LIMIT, **given,
        **WITHOUT_SEARCH, "knobs": ",".join(_names(given["sweep"])),
    }  # fmt: skip
    settings = with_first_version(settings)
    with StoredStudies(home, consent) as stored:
        name_rocksdb(settings, request.keys, stored.settings, remarks.append)
    return Resolved(make_spec(settings, request.where, request.flag_names), None, tuple(remarks))


def resolve_comparison(
    request: Request,
    home: Path,
    *,
    real: bool,
    consent: Consent = nobody_to_ask,
    observer: Observer | None = None,
) -> Resolved:
    """Return the settings of the searches that are compared.

    Only `real` searches run a RocksDB. UserError for settings that cannot be used.
    """
    remarks: list[str] = []
    given = given_settings(request, consent)
    if real:
        with StoredStudies(home, consent) as stored:
            name_rocksdb(given, request.keys, stored.settings, remarks.append)
            name_ranked_knobs(given, stored, observer or Observer(), remarks.append)
    return Resolved(make_spec(given, request.where, request.flag_names), None, tuple(remarks))


def _names(table: dict[str, object]) -> list[str]:
    """The knobs that the table names; mistakes are found later, with the rest."""
    factors, fixed = table.get("factors"), table.get("fixed")
    found = [*fixed] if isinstance(fixed, dict) else []
    if isinstance(factors, dict):
        found += [name for knobs in factors.values() if isinstance(knobs, dict) for name in knobs]
    return list(dict.fromkeys(found))


def with_screen(given: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a screening; a batch file also gives knobs and workload."""
    stated = given.get("screen", {})
    if not isinstance(stated, dict):
        return {**given}  # checked with the other settings
    screen_table = {**stated, **table}
    settings = {"trials": _CONFIGS, **given, "screen": screen_table, **WITHOUT_SEARCH}
    batch = screen_table.get("batch")
    return settings if batch is None else {**settings, **_batch_settings(given, Path(str(batch)))}


def _batch_settings(given: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The settings that the lines contain; UserError if they are given again."""
    for key in ("knobs", "scale", "workload", "base", "cache", "trials"):
        if key in given:
            raise UserError(
                f"{key}: not allowed with ",
                Argument("batch"),
                f", because the batch file sets {key}",
            )
    usable = usable_lines(path, read_batch(path))
    load, engine = usable[0].workload, usable[0].engine
    catalogue = catalogue_of(engine, load)
    inert = {knob.name for knob in catalogue.knobs if knob.inert is not None}
    names = dict.fromkeys(name for line in usable for name in line.knobs if name not in inert)
    return {
        "knobs": ",".join(names),
        "scale": "1",
        "engine": given.get("engine", engine),
        "workload": load.model_dump(),
        "memory": given.get("memory", NO_MEMORY_LIMIT),
    }
