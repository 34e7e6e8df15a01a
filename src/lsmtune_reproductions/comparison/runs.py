"""Run the searches of a comparison. Finished searches are stored; the same call continues."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from lsmtune.analysis.screened import shipped
from lsmtune.engines.base import Engine
from lsmtune.errors import UserError
from lsmtune.hosts.commander import Hosts
from lsmtune.learning.threads import one_thread
from lsmtune.objective import parse_objective
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.progress import Observer
from lsmtune.reading import read_text
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySettings, catalogue_of
from lsmtune.store.home import Home
from lsmtune.study.foretelling import Simulated, foretelling
from lsmtune.study.opening import open_session, prepare
from lsmtune.study.search import run_search
from lsmtune.system.lock import study_lock
from lsmtune.system.write import place_to_write, write_whole
from lsmtune.trials import Base
from lsmtune_reproductions.comparison.model import Modelled, modelled
from lsmtune_reproductions.comparison.race import Curve, curve_of, search
from lsmtune_reproductions.comparison.workers import worker_pool
from lsmtune_reproductions.recipes.jin2022.study import Plan

_CURVE = TypeAdapter(Curve)
_MANY_FILES = 20_000
"""Limit of open files on the host of the shipped screening."""


@lru_cache(maxsize=1)
def shipped_model(objective: tuple[str, ...], limits: tuple[str, ...]) -> Modelled:
    """Return the model of the shipped screening: random writes and 25 knobs."""
    plan = Plan()
    spec = plan.screening("honest")
    catalogue = catalogue_of(spec.engine, spec.workload)
    base = Base(options="", settings=catalogue.defaults(1))
    space = knob_space(spec, Ground(catalogue, base, _MANY_FILES))
    return modelled(shipped(), catalogue, space, parse_objective(objective, limits))


def on_model(
    spec: StudySettings,
    optimizers: Sequence[str],
    repeats: int,
    kept: Path,
    jobs: int,
    *,
    home: Path,
) -> Iterator[Curve]:
    """Yield searches on the shipped model; each finished one is stored as a line of JSON.

    `kept` is the file of these lines in the folder `home`.
    """
    place_to_write(kept, home)  # before the lock beside it is made
    with study_lock(kept.with_suffix(".lock"), f"the comparison in {kept}"):
        text = _whole_lines(kept) if kept.exists() else ""
        done = _curves(text, kept)
        wanted = [(n, s) for s in range(spec.seed, spec.seed + repeats) for n in optimizers]
        yield from (done[search] for search in wanted if search in done)
        for curve in _run_all(spec, [search for search in wanted if search not in done], jobs):
            text += json.dumps(asdict(curve)) + "\n"
            write_whole(kept, text, home)
            yield curve


def _run_all(
    spec: StudySettings, searches: Sequence[tuple[str, int]], jobs: int
) -> Iterator[Curve]:
    with worker_pool(jobs) as pool:
        asked = spec.objective, spec.limits
        running = [
            pool.submit(_one, *asked, n, seed, spec.number_of_trials) for n, seed in searches
        ]
        for future in as_completed(running):
            yield future.result()


def _one(
    objective: tuple[str, ...], limits: tuple[str, ...], name: str, seed: int, trials: int
) -> Curve:
    def guide() -> Simulated | None:
        """Return the simulator with the screened workload."""
        load = shipped()[0].workload
        asked = {"workload": load, "objective": objective, "limits": limits}
        return foretelling(Plan().screening("honest").model_copy(update=asked), model.space)

    with one_thread():
        model = shipped_model(objective, limits)
        return search(model, name, make_optimizer(name, foretelling=guide), seed, trials)


def _whole_lines(path: Path) -> str:
    """Return the text of a file without an incomplete last line."""
    text = read_text(path, str(path))
    return text[: text.rfind("\n") + 1]


def _curves(text: str, kept: Path) -> dict[tuple[str, int], Curve]:
    """Return the finished searches; UserError if a line of the file `kept` is not a search."""
    try:
        curves = [_CURVE.validate_json(line) for line in text.splitlines()]
    except ValidationError as error:
        raise UserError(
            f"{kept}: lsmtune cannot have written this file; remove it, and the searches run again"
        ) from error
    return {(curve.optimizer, curve.seed): curve for curve in curves}


def code_digest() -> str:
    """Return a digest of all code and data that a search on the model depends on."""
    rooms = ("knobs", "learning", "simulator", "optimizers", "data")
    folders = [*(files("lsmtune") / room for room in rooms), files("lsmtune_reproductions")]
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(Path(str(folder)).rglob("*")):
            if path.suffix in (".py", ".toml", ".gz"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def engine_studies(
    spec: StudySettings, optimizers: Sequence[str], repeats: int
) -> list[StudySettings]:
    """Return the studies of a comparison on the engine: the optimizers take turns, seed by seed.

    A drift of the machine then affects all of them equally.
    """
    return [
        spec.model_copy(
            update={
                "study": f"{spec.name}-{name.split(':')[0]}-{place}-{seed}",
                "optimizer": name, "seed": seed, "repeats": 0, "pairs": 0,
                "budget": None, "until": None,
            }
        )
        for seed in range(spec.seed, spec.seed + repeats)
        for place, name in enumerate(optimizers)
    ]  # fmt: skip


def on_engine(
    studies: Sequence[StudySettings],
    engine: Engine,
    home: Home,
    observer: Observer,
    hosts: Hosts | None = None,
) -> Iterator[Curve]:
    """Yield the searches; each is a study of the home, and its runs go to the `hosts`, if any."""
    for spec in studies:
        prepared = prepare(spec, home.path, observer, engine=engine)
        with open_session(home, prepared, observer, hosts=hosts) as study:
            run_search(study)
            yield curve_of(spec.optimizer, spec.seed, study.history.observations)
