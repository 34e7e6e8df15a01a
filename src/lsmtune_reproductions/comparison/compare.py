"""Optimizers against each other at equal numbers of trials."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lsmtune.analysis.screened import SHIPPED_VERSION
from lsmtune.api.on_hosts import OnHosts, opened_hosts
from lsmtune.errors import Argument, UserError, unknown_word
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.progress import Observer
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.host_checks import check_space
from lsmtune.study.opening import prepare
from lsmtune.system.host import describe_host
from lsmtune.system.write import write_file
from lsmtune_reproductions.comparison.page import render_comparison
from lsmtune_reproductions.comparison.race import Curve, Outcome, outcome, outcome_document
from lsmtune_reproductions.comparison.runs import code_digest, engine_studies, on_engine, on_model


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
