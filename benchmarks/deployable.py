"""Can what lsmtune exports be deployed? Searches, rehearsals, and planted changes.

    .venv/bin/python benchmarks/deployable.py [--simulated 40] [--real 4] [--rocksdb 11.8.1]

1. Searches on the simulated engine, with the settings of `make tune` and the seeds 1 to 40: no
   winner may have a value that knobs/catalogue/existing.toml forbids.
2. The same on RocksDB with the seeds 1 to 4. Each study verifies its winner and rehearses its
   files. A rehearsal takes at most as long as two runs of the study.
3. Each change that the table forbids, and each without a way back, is planted into the file of the
   baseline together with two harmless changes. The search must refuse it; and if a rehearsal fails,
   it must name the planted option alone. Rows about deleted keys need a large store to show them.

Writes benchmarks/results/deployable.json after each search and each planted change, and continues
there. The exit code is 1 if a line does not hold.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import lsmtune
from lsmtune.analysis.claim import GAINS
from lsmtune.engines.base import Deployed, Places, Rehearses, Watch
from lsmtune.engines.registry import engine_of
from lsmtune.engines.rocksdb.exports import OPTIONS
from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.knobs.constraints import refusals
from lsmtune.knobs.existing import (
    StoreChange,
    changes_between,
    changes_of,
    existing_rules,
    store_changes,
)
from lsmtune.knobs.option_text import statements
from lsmtune.knobs.rules.base import Context, Rules
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.options_file import parse_options, replace_options
from lsmtune.spaces import knob_space
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.study.opening import describe
from lsmtune.study.record import read_record
from lsmtune.trials import Protocol, TrialSpec

RESULTS = Path(__file__).parent / "results" / "deployable.json"
MAKE_TUNE: dict[str, Any] = {"workload": {"name": "fillrandom", "num": 200_000}, "trials": 16}
HARMLESS: Settings = {"write_buffer_size": 32 << 20, "max_background_jobs": 3}


def searched(folder: Path, seed: int, **more: Any) -> dict[str, Any]:
    """Tune with a seed; return the status, the forbidden values, and the rehearsal."""
    result = lsmtune.tune(**MAKE_TUNE, seed=seed, home=folder, study="s", **more)
    with Home(folder, create=False) as home:
        record = read_record(home, "s")
        winner = record.history.winner()
        base = record.history.complete_base[0].config
        runs = [run.duration_s for run in record.history.complete_base]
    config = {} if winner is None else dict(winner.trial.config)
    names = rocksdb_catalogue().names
    forbidden = [name for name, change in changes_between(dict(base), config, names)
                 if change.is_forbidden or change.is_one_way]  # fmt: skip
    rehearsal = result.claim.view.rehearsal
    return {
        "seed": seed,
        "status": result.claim.status,
        "changed": len(result.claim.changes),
        "forbidden": forbidden,
        "rehearsal": None if rehearsal is None else rehearsal.model_dump(mode="json"),
        "run_s": median(runs) if runs else None,
        "has_file": bool(list(folder.glob("results/s/OPTIONS"))),
    }


def planted(spec: StudySettings, change: StoreChange, folder: Path) -> dict[str, Any]:
    """Plant a change of the table into the baseline's file; ask the search, and rehearse it."""
    engine = engine_of(spec)
    facts, ground = describe(spec, engine, folder)
    if not isinstance(engine, Rehearses):
        raise TypeError(engine.name)
    space = knob_space(spec, ground)
    knobs = {k.name: k for k in rocksdb_catalogue().of_version(facts.version).knobs}
    own = ground.base.settings
    met: Settings = {n: own[n] if own[n] in v else v[0] for n, v in change.when.items()}
    before: Settings = {**met, change.option: _before(change, own[change.option])}
    value = _after(change, knobs[change.option], before[change.option])
    named = [knobs[name] for name in {**HARMLESS, **before}]
    undo = _with(OPTIONS.user_file(spec, ground.base, None).text, before, named)
    values: Settings = {**HARMLESS, change.option: value}

    def only(names: Collection[str]) -> str:
        return _with(undo, {n: v for n, v in values.items() if n in names}, named)

    files = Deployed(exported=only(values), undo=undo, changed=tuple(values), only=only,
                     family="default")  # fmt: skip
    settings = {**space.settings(space.default()), **before}
    trial = TrialSpec(settings=settings, base_settings=settings, protocol=Protocol(), seed=1,
                      workload=spec.workload.model_copy(update={"num": 20_000}))  # fmt: skip
    workdir = folder / "work"
    workdir.mkdir()
    places, watch = Places(workdir, folder / "templates"), Watch(lambda phase: None)
    found = engine.rehearse(trial, ground.base, files, places, watch)
    context = Context({**own, **before}, open_files=1024, version=facts.version)
    rules = Rules(refusals=existing_rules(one_way=False))
    refused = refusals({**own, **before, change.option: value}, context, rules)
    return {
        "option": change.option, "before": before, "value": value, "forward": change.forward,
        "back": change.back, "refused_by_the_search": bool(refused), "failed": found.failed,
        "step": found.step, "message": found.message, "options": list(found.options),
    }  # fmt: skip


def _with(text: str, settings: Settings, knobs: list[Knob]) -> str:
    sections = parse_options(text).sections
    named = [knob for knob in knobs if knob.name in settings]
    return replace_options(text, statements(named, settings, sections, "default"))


def _before(change: StoreChange, base: Value) -> Value:
    return base if not change.before or base in change.before else change.before[0]


def _after(change: StoreChange, knob: Knob, before: Value) -> Value:
    """Return a value of the knob that the row of the table means."""
    low, high = knob.bounds() if knob.is_range else (0, 0)
    values = [*knob.special_values, low, high] if knob.is_range else list(knob.values)
    typed = [int(v) if knob.kind == "int" else v for v in values]
    return next(value for value in typed if change.concerns(before, value))


def failures(found: Mapping[str, list[dict[str, Any]]]) -> list[str]:
    """Return what does not hold."""
    wrong = [f"seed {one['seed']}: forbidden {one['forbidden']}"
             for one in (*found["simulated"], *found["real"]) if one["forbidden"]]  # fmt: skip
    for one in found["real"]:
        rehearsal = one["rehearsal"]
        if one["status"] in GAINS and (rehearsal is None or rehearsal["failed"]):
            wrong.append(f"seed {one['seed']}: the files were not rehearsed, or failed")
        if one["has_file"] and one["status"] not in (*GAINS, "not verified"):
            wrong.append(f"seed {one['seed']}: a file was written")
    wrong += [
        f"planted {one['option']}: {one['failed']} {one['options']}"
        for one in found["planted"]
        if not one["refused_by_the_search"]
        or (one["failed"] is not None and one["options"] != [one["option"]])
    ]
    return wrong


def main() -> None:
    """Run what is missing, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulated", type=int, default=40)
    parser.add_argument("--real", type=int, default=4)
    parser.add_argument("--rocksdb", default="11.8.1")
    asked = parser.parse_args()
    parts: dict[str, list[dict[str, Any]]] = {"simulated": [], "real": [], "planted": []}
    if RESULTS.exists():
        parts |= json.loads(RESULTS.read_text())

    def keep(part: str, one: dict[str, Any]) -> None:
        parts[part].append(one)
        RESULTS.write_text(json.dumps(parts, indent=1) + "\n")
        sys.stdout.write(json.dumps({part: one}) + "\n")

    # Only counts matter, so disturbed runs count at once.
    engines = {"simulated": ({"engine": "simulated"}, asked.simulated),
               "real": ({"rocksdb": asked.rocksdb, "accept_noise": True}, asked.real)}  # fmt: skip
    for part, (more, count) in engines.items():
        for seed in range(len(parts[part]) + 1, count + 1):
            with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
                keep(part, searched(Path(folder, "home"), seed, **more))
    spec = make_spec({**MAKE_TUNE, "rocksdb": asked.rocksdb}, "benchmark")
    rows = [
        change
        for change in store_changes()
        if change in changes_of(change.option, asked.rocksdb)
        and (change.is_forbidden or change.is_one_way)
    ]
    for change in rows[len(parts["planted"]) :]:
        with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
            keep("planted", planted(spec, change, Path(folder)))
    wrong = failures(parts)
    sys.stdout.write("\n".join(wrong or ["all lines hold"]) + "\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
