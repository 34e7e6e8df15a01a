"""Optimizers against each other at equal numbers of trials.

Finished searches are stored; the same call continues.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lsmtune.analysis.screened import SHIPPED_VERSION, shipped
from lsmtune.api.on_hosts import OnHosts, opened_hosts
from lsmtune.engines.base import Engine
from lsmtune.errors import Argument, UserError, unknown_word
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
from lsmtune.study.host_checks import check_space
from lsmtune.study.opening import open_session, prepare
from lsmtune.study.search import run_search
from lsmtune.system.host import describe_host
from lsmtune.system.lock import study_lock
from lsmtune.system.write import place_to_write, write_file, write_whole
from lsmtune.trials import Base
from lsmtune_reproductions.comparison.model import Modelled, modelled
from lsmtune_reproductions.comparison.page import render_comparison
from lsmtune_reproductions.comparison.race import (
    Curve,
    Outcome,
    curve_of,
    outcome,
    outcome_document,
    search,
)
from lsmtune_reproductions.comparison.workers import worker_pool
from lsmtune_reproductions.recipes.jin2022.study import Plan

_CURVE = TypeAdapter(Curve)
_MANY_FILES = 20_000
"""Limit of open files on the host of the shipped screening."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The optimizers, the study that they run and the target."""

    optimizers: tuple[str, ...]
    spec: StudySettings
    repeats: int
    target: float | None
    reference: str | None
    real: bool


@dataclass(frozen=True, slots=True)
class ComparedOptimizers:
    """The outcome of a comparison, and the file of its page.

    `predicted_from` is the version of RocksDB whose measured runs a model was fitted to, which
    predicted the trials; None if the trials ran on the engine.
    """

    outcome: Outcome
    page: Path
    predicted_from: str | None

    def document(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return outcome_document(self.outcome)


def compare(
    asked: Asked,
    home: Path,
    observer: Observer | None = None,
    *,
    output: Path | None = None,
    hosts: OnHosts | None = None,
) -> ComparedOptimizers:
    """Run the missing searches and write the page, into the home if `output` is not given.

    With `hosts`, the trials on the engine go to them.
    """
    observer = observer or Observer()
    _check(asked)
    prepared = None
    if asked.real:  # before a folder is made: it finds mistakes
        prepared = prepare(asked.spec, home, observer)
        asked = replace(asked, spec=prepared.spec)
    with Home(home, create=True) as opened:
        results = opened.path / "results"
        name = f"compare-{asked.spec.name}"
        if prepared is not None:
            studies = engine_studies(asked.spec, asked.optimizers, asked.repeats)
            with opened_hosts(hosts, prepared.engine, observer) as used:
                if used is None:
                    check_space(asked.spec, opened)
                curves = on_engine(studies, prepared.engine, opened, observer, used)
                finished = list(_shown(curves, asked, observer.remark))
        else:
            kept = results / f"{name}-{_digest(asked)}.jsonl"
            jobs = describe_host().logical_cpus or 1
            curves = on_model(
                asked.spec, asked.optimizers, asked.repeats, kept, jobs, home=opened.path
            )
            with observer.working(
                "running the searches on a model that predicts the runs", delay_s=0
            ) as show:
                finished = list(_shown(curves, asked, show))
        found = outcome(finished, asked.spec.number_of_trials, asked.target, asked.reference)
        page = output or results / f"{name}.html"
    text = render_comparison(found, asked.spec, real=asked.real)
    write_file(page, text, "page", home)
    return ComparedOptimizers(found, page, None if asked.real else SHIPPED_VERSION)


def _check(asked: Asked) -> None:
    for name in asked.optimizers:
        make_optimizer(name)
    if len(set(asked.optimizers)) < len(asked.optimizers):
        raise UserError("compare: an optimizer is named twice; name each optimizer once")
    if asked.reference is not None and asked.reference not in asked.optimizers:
        raise UserError(
            Argument("reference"),
            f": {unknown_word('optimizer', asked.reference, asked.optimizers)}",
        )


def _digest(asked: Asked) -> str:
    """A hash of the settings on which a finished search depends, other than optimizer and seed."""
    spec = asked.spec
    text = f"{spec.objective} {spec.limits} {spec.trials} {code_digest()}"
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _shown(curves: Iterator[Curve], asked: Asked, tell: Callable[[str], None]) -> Iterator[Curve]:
    """Give the searches and show a line for each that has ended."""
    total = len(asked.optimizers) * asked.repeats
    for number, curve in enumerate(curves, start=1):
        tell(
            f"search {number} of {total}: {curve.optimizer}, seed {curve.seed}: "
            f"best objective / objective of the baseline: {curve.costs[-1]:.3f}"
        )
        yield curve


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
