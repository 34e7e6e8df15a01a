"""The work behind `lsmtune compare`, apart from its flags so that `--help` stays quick."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsmtune.cli.common import write_file
from lsmtune.cli.progress import progress
from lsmtune.cli.tuning import check_space, described
from lsmtune.comparison.page import render_comparison
from lsmtune.comparison.race import Curve, Outcome, outcome, outcome_document, outcome_lines
from lsmtune.comparison.runs import code_digest, engine_studies, on_engine, on_model
from lsmtune.engines.registry import make_engine
from lsmtune.errors import UserError
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home
from lsmtune.system.host import describe_host

__all__ = ["Asked", "check_on_model", "outcome_document", "outcome_lines", "run"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared, on what, and what is to be reached."""

    optimizers: tuple[str, ...]
    spec: StudySpec
    repeats: int
    target: float | None
    reference: str | None
    real: bool


def run(
    asked: Asked, home: Path, output: Path | None, tell: Callable[[str], None]
) -> tuple[Path, Outcome]:
    """Run what has not run yet, write the page; where that is, and what came out."""
    _check(asked)
    if asked.real:
        engine = make_engine(asked.spec.engine, asked.spec.program, asked.spec.tikv)
        described(asked.spec, engine)  # what is wrong is told before a folder is made
    with Home(home, create=True) as opened:
        results = opened.path / "results"
        name = f"compare-{asked.spec.name}"
        curves: Iterator[Curve]
        if asked.real:
            check_space(asked.spec, opened)
            studies = engine_studies(asked.spec, asked.optimizers, asked.repeats)
            curves = on_engine(studies, engine, opened, progress)
        else:
            results.mkdir(exist_ok=True)
            kept = results / f"{name}-{_digest(asked)}.jsonl"
            jobs = describe_host().logical_cpus or 1
            curves = on_model(asked.spec, asked.optimizers, asked.repeats, kept, jobs)
        found = outcome(list(_told(curves, tell)), asked.spec.trials, asked.target,
                        asked.reference)  # fmt: skip
        page = output or results / f"{name}.html"
    write_file(page, render_comparison(found, asked.spec, real=asked.real), "page")
    return page, found


def check_on_model(flags: Sequence[str]) -> None:
    """UserError for flags that say nothing to the model of the screening that ships."""
    if flags:
        raise UserError(f"--{flags[0]} says nothing to the model of screened runs; add --real")


def _check(asked: Asked) -> None:
    for name in asked.optimizers:
        make_optimizer(name)
    if len(set(asked.optimizers)) < len(asked.optimizers):
        raise UserError("compare: an optimizer is named twice; name each once")
    if asked.reference is not None and asked.reference not in asked.optimizers:
        raise UserError(
            f"--reference {asked.reference}: is not compared; allowed are "
            f"{', '.join(asked.optimizers)}"
        )


def _digest(asked: Asked) -> str:
    """A name for what may share a file of finished searches: all but who searches how often."""
    spec = asked.spec
    told = f"{spec.objective} {spec.limits} {spec.trials} {code_digest()}"
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def _told(curves: Iterator[Curve], tell: Callable[[str], None]) -> Iterator[Curve]:
    for curve in curves:
        tell(f"{curve.optimizer}, seed {curve.seed}: {curve.costs[-1]:.3f} of the base")
        yield curve
