"""The plan and the result of an experiment as text."""

from collections.abc import Iterator

from lsmtune.api.sweep import StudyView, SweepPlan, Swept
from lsmtune.cli.tables import Column, facts_lines, paragraph, table_lines
from lsmtune.report.text.swept_words import (
    answers,
    cell_rows,
    head_lines,
    mean_word,
    workload_size,
)
from lsmtune.report.text.words import counted


def plan_lines(plan: SweepPlan) -> Iterator[str]:
    """Give the lines of the plan."""
    experiment = plan.experiment
    rows = [
        (factor, ", ".join(experiment.factors[factor]), ", ".join(levels))
        for factor, levels in plan.levels.items()
    ]
    yield from table_lines([Column("factor"), Column("knobs"), Column("levels")], rows)
    fixed = ", ".join(f"{k} = {v}" for k, v in experiment.fixed.items()) or "nothing"
    repeats = (
        f"{experiment.repeats}, each with one run per combination ({experiment.cell_count}) and "
        f"{counted(plan.base_runs, 'run')} of the baseline"
    )
    total = f"{plan.runs} runs of {workload_size(plan.workload)}"
    yield ""
    yield from facts_lines([("fixed", fixed), ("repeats", repeats), ("total", total)])


def swept_lines(swept: Swept, view: StudyView) -> Iterator[str]:
    """Give the result as text: what ran, then sentences and a table per metric."""
    yield from head_lines(swept, view)
    for warning in swept.warnings:
        yield from paragraph(f"note: {warning}", hanging=2)
    for metric in swept.metrics:
        yield ""
        for sentence in answers(swept, metric):
            yield from paragraph(sentence, hanging=2)
        yield f"  {mean_word(metric)} of the runs:"
        columns = [
            Column(" / ".join(swept.factors), at_least=20), Column(metric.metric, right=True),
            Column("95 % interval", at_least=12, drop=1),
            Column("ratio to baseline", at_least=18),
        ]  # fmt: skip
        yield from table_lines(columns, cell_rows(metric), indent=2)
