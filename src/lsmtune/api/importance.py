"""The effect of each knob on each metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.analysis.importance import (
    Importance,
    KnobImportance,
    MetricImportance,
    find_importance,
    importance_document,
    runs_of,
    usual_repeats,
)
from lsmtune.analysis.screened import screened_lines
from lsmtune.batch import BatchLine, read_batch
from lsmtune.engine_traits import ENGINES
from lsmtune.errors import Argument, UserError
from lsmtune.metrics.definitions import metric as known_metric
from lsmtune.metrics.definitions import shown_metrics
from lsmtune.progress import Observer
from lsmtune.report.importance_page import render_importance
from lsmtune.spec import catalogue_of
from lsmtune.store.home import Home
from lsmtune.system.write import write_file

__all__ = ["Importance", "KnobImportance", "MetricImportance"]


@dataclass(frozen=True, slots=True, repr=False)
class ImportanceResult:
    """The importance of the knobs in the runs that `title` names: a study or a file."""

    title: str
    importance: Importance

    def __repr__(self) -> str:
        """Return what the runs are; all values would be pages of text."""
        return f"<lsmtune.ImportanceResult of {self.title!r}>"

    def document(self) -> dict[str, Any]:
        """Return the importance as JSON."""
        return importance_document(self.importance)

    def page(self, path: str | Path | None = None) -> str:
        """Return the HTML page about the importance; write it to `path`."""
        text = render_importance(self.title, self.importance)
        if path is not None:
            write_file(Path(path), text, "page")
        return text


def importance(
    home: Path,
    *,
    study: str | None = None,
    batch: Path | None = None,
    metrics: Sequence[str] = (),
    repeats: int | None = None,
    observer: Observer | None = None,
) -> ImportanceResult:
    """Rank the knobs by their effect on each metric, in the runs of a study or of a file.

    `metrics` are by default those that suit the workload. `repeats` is the number of
    cross-validations. UserError for runs that cannot be used.
    """
    if (study is None) == (batch is None):
        raise UserError(
            "importance: name either a ",
            Argument("study", flag="STUDY"),
            " or ",
            Argument("batch", "FILE"),
            ", but not both",
        )
    lines = _lines(study, batch, home)
    # That all runs have the same engine and workload is checked later.
    first = lines[0] if lines else BatchLine("none")
    runs = runs_of(lines, catalogue_of(first.engine, first.workload))
    kind = runs.first[0].workload.kind
    names = [known_metric(name, "metric").name for name in metrics]
    usual = shown_metrics("importance", kind, ENGINES[first.engine].measured)
    chosen = names or [name for name in usual if name in runs.metrics]
    if not chosen:
        raise UserError(
            f"importance: fewer than {runs.fewest} configs have a value of one of the usual "
            f"metrics ({', '.join(usual)}); add ",
            Argument("metrics", flag="--metric"),
            f" with another metric: {', '.join(runs.metrics) or 'none has enough values'}",
        )
    fitting = f"fitting models that predict {', '.join(chosen)} from {len(runs.first)} configs"
    with (observer or Observer()).working(fitting):
        found = find_importance(runs, chosen, repeats or usual_repeats(runs))
    return ImportanceResult(study or str(batch), found)


def _lines(study: str | None, batch: Path | None, home: Path) -> list[BatchLine]:
    if batch is None:
        with Home(home, create=False) as opened:
            return screened_lines(opened, str(study))
    lines = read_batch(batch)
    bad = [line for line in lines if line.is_wrong]
    if bad:
        raise UserError(f"batch {batch}: {bad[0].error}")
    return lines
