"""The work of `lsmtune compare`; a module of its own so that `--help` is quick."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsmtune.cli.describing import described, fitted, rule_of
from lsmtune.cli.progress import progress, working
from lsmtune.cli.tables import Column, paragraph, table_lines
from lsmtune.cli.tuning import check_space
from lsmtune.comparison.page import render_comparison
from lsmtune.comparison.race import Curve, Outcome, outcome, outcome_document
from lsmtune.comparison.runs import code_digest, engine_studies, on_engine, on_model
from lsmtune.engines.registry import engine_of
from lsmtune.errors import UserError, unknown_word
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.recipes.jin2022.shipped import SHIPPED_VERSION
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home
from lsmtune.system.host import describe_host
from lsmtune.system.write import write_file

__all__ = ["Asked", "check_on_model", "lines", "outcome_document", "run"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The optimizers, the study that they run and the target."""

    optimizers: tuple[str, ...]
    spec: StudySpec
    repeats: int
    target: float | None
    reference: str | None
    real: bool


def run(
    asked: Asked, home: Path, output: Path | None, tell: Callable[[str], None]
) -> tuple[Path, Outcome]:
    """Run the missing searches and write the page; return its path and the outcome."""
    _check(asked)
    if asked.real:
        engine = engine_of(asked.spec)
        # Before a folder is made: it finds mistakes.
        _, ground = described(asked.spec, engine, rule_of(asked.spec, home))
        asked = replace(asked, spec=fitted(asked.spec, ground, tell))
    with Home(home, create=True) as opened:
        results = opened.path / "results"
        name = f"compare-{asked.spec.name}"
        curves: Iterator[Curve]
        if asked.real:
            check_space(asked.spec, opened)
            studies = engine_studies(asked.spec, asked.optimizers, asked.repeats)
            curves = on_engine(studies, engine, opened, progress)
        else:
            kept = results / f"{name}-{_digest(asked)}.jsonl"
            jobs = describe_host().logical_cpus or 1
            curves = on_model(
                asked.spec, asked.optimizers, asked.repeats, kept, jobs, home=opened.path
            )
        if asked.real:
            finished = list(_shown(curves, asked, tell))
        else:
            with working(
                "running the searches on a model that predicts the runs", delay_s=0
            ) as show:
                finished = list(_shown(curves, asked, show))
        found = outcome(finished, asked.spec.number_of_trials, asked.target, asked.reference)
        page = output or results / f"{name}.html"
    text = render_comparison(found, asked.spec, real=asked.real)
    write_file(page, text, "page", home)
    return page, found


def check_on_model(flags: Sequence[str]) -> None:
    """Raise UserError for flags that the model of measured runs does not use."""
    if flags:
        raise UserError(
            f"--{flags[0]}: allowed only with --real; add --real, or leave out --{flags[0]}"
        )


def _check(asked: Asked) -> None:
    for name in asked.optimizers:
        make_optimizer(name)
    if len(set(asked.optimizers)) < len(asked.optimizers):
        raise UserError("compare: an optimizer is named twice; name each optimizer once")
    if asked.reference is not None and asked.reference not in asked.optimizers:
        raise UserError(
            f"--reference: {unknown_word('optimizer', asked.reference, asked.optimizers)}"
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


def lines(found: Outcome, *, simulated: bool) -> list[str]:
    """Return the outcome for people: a table, the best optimizer first."""
    first = found.standings[0]
    marks = [*first.best_at]
    heading = (
        "Objective of the best config after N trials, as a ratio to the baseline. A ratio below 1 "
        f"is a gain. Each ratio is the median of {first.repeats} searches with its 95 % interval. "
        f'"trials to target" is the number of trials until the ratio is at most {found.target:.3f}.'
    )
    if simulated:
        heading += (
            f" A model that was fitted to measured runs of RocksDB {SHIPPED_VERSION} predicted the "
            "trials."
        )
    columns = [Column("optimizer", at_least=9)]
    columns += [
        Column(f"{mark} trials", at_least=13, drop=0 if mark == marks[-1] else len(marks) - at)
        for at, mark in enumerate(marks)
    ]
    columns.append(Column("trials to target", at_least=11))
    rows = []
    for s in found.standings:
        cells = [f"{i.median:.3f} ({i.low:.3f} to {i.high:.3f})" for i in s.best_at.values()]
        median = s.trials_to_target[0]
        rows.append([s.optimizer, *cells, "not reached" if median is None else str(median)])
    return [*paragraph(heading), "", *table_lines(columns, rows)]
