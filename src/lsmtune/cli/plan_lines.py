"""The plan of `lsmtune tune --dry-run` as text."""

from lsmtune.api.plan import Plan
from lsmtune.cli.tables import Column, facts_lines, table_lines
from lsmtune.report.text.baseline_text import baseline_lines, cache_lines, online_lines
from lsmtune.report.text.plan_text import (
    knobs_text,
    limits_text,
    measure_facts,
    memory_facts,
    online_facts,
    optimizer_text,
    range_rows,
    run_facts,
    workload_facts,
)


def plan_lines(found: Plan, *, verbose: bool = False) -> list[str]:
    """Return the plan as text: facts of the study, then a table of the knobs.

    With `verbose`, each option that is left out of the baseline has a line of its own.
    """
    spec, facts, ground, space = found.spec, found.facts, found.ground, found.space
    facts_found = [
        ("study", f"{spec.name} in {found.home}"),
        ("engine", f"{spec.engine} {facts.version}"),
        *([("", facts.origin.text)] if facts.origin else []),
        *workload_facts(spec),
        *measure_facts(spec, ground.base.settings),
        ("baseline", spec.base or "the defaults of the engine"),
        *(("", line) for line in baseline_lines(ground.base, verbose=verbose)),
        *(("", line) for line in cache_lines(found.spaces)),
        *(("", line) for line in online_lines(found.spaces)),
        ("tree", f"scale {spec.scale}"),
        ("objective", spec.parsed_objective.name),
        ("limits", limits_text(spec)),
        *memory_facts(ground, space),
        ("knobs", knobs_text(spec, len(space.knobs))),
        ("optimizer", optimizer_text(spec)),
        *(online_facts(spec, spec.online) if spec.online else run_facts(spec, len(space.knobs))),
        ("time", found.time_text),
        *((one.name, one.text) for one in found.ready),
    ]
    columns = [Column("knob", at_least=24), Column("range that is searched", at_least=24)]
    return [*facts_lines(facts_found), "", *table_lines(columns, range_rows(space), indent=2)]
