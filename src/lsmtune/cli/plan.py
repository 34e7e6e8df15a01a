"""The plan of `lsmtune tune --dry-run` as text."""

from lsmtune.api.plan import Plan, online_s
from lsmtune.api.run_time import time_text
from lsmtune.cli.tables import Column, facts_lines, table_lines
from lsmtune.knobs.knob_text import readable_range
from lsmtune.knobs.space import KnobSpace
from lsmtune.report.text.baseline_text import baseline_lines, cache_lines, online_lines
from lsmtune.spec import Ground, StudySettings
from lsmtune.study.search import GROUPS_OF_FINALISTS
from lsmtune.study.stopping import fewest_trials
from lsmtune.tables import Online
from lsmtune.units import format_bytes, format_duration


def _search_text(spec: StudySettings, knobs: int) -> str:
    """What ends the search."""
    ends = [] if spec.trials is None else [f"after {spec.trials} trials"]
    if spec.budget_s is not None:
        ends.append(f"after {format_duration(spec.budget_s)}")
    if isinstance(spec.until, int):
        ends.append(f"after {spec.until} trials in a row without a gain")
    elif spec.until is not None:
        fewest = fewest_trials(knobs)
        ends.append(f"when lsmtune expects no further gain, at the earliest after {fewest} trials")
    return "ends " + ", or ".join(ends)


def plan_lines(found: Plan, *, verbose: bool = False) -> list[str]:
    """Return the plan as text: facts of the study, then a table of the knobs.

    With `verbose`, each option that is left out of the baseline has a line of its own.
    """
    spec, facts, ground, space = found.spec, found.facts, found.ground, found.space
    time = time_text(spec, len(space.knobs), found.run)
    facts_found = [
        ("study", f"{spec.name} in {found.home}"),
        ("engine", f"{spec.engine} {facts.version}"),
        *([("", facts.origin.text)] if facts.origin else []),
        *_workload_facts(spec),
        ("baseline", spec.base or "the defaults of the engine"),
        *(("", line) for line in baseline_lines(ground.base, verbose=verbose)),
        *(("", line) for line in cache_lines(spec, ground)),
        *(("", line) for line in online_lines(spec, ground)),
        ("tree", f"scale {spec.scale}"),
        ("objective", spec.parsed_objective.name),
        ("limits", _limits_text(spec)),
        ("memory", _memory_text(ground, space)),
        ("optimizer", spec.optimizer),
        *(_online_facts(spec, spec.online) if spec.online else _run_facts(spec, len(space.knobs))),
        ("time", _online_time_text(spec, spec.online) if spec.online else time),
        *((one.name, one.text) for one in found.ready),
    ]
    columns = [Column("knob", at_least=24), Column("range that is searched", at_least=24)]
    rows = [(knob.name, readable_range(knob)) for knob in space.knobs]
    count = f"{len(rows)} knobs are tuned:" if len(rows) != 1 else "1 knob is tuned:"
    return [*facts_lines(facts_found), "", count, *table_lines(columns, rows, indent=2)]


def _memory_text(ground: Ground, space: KnobSpace) -> str:
    limit = format_bytes(space.full_size.memory.limit_bytes)
    if ground.rule is None:
        return f"at most {limit} for memtables and caches"
    return (
        f"at full size at most {limit} for memtables, caches, and index and filter blocks outside "
        "the block cache"
    )


def _workload_facts(spec: StudySettings) -> list[tuple[str, str]]:
    values = spec.workload.told
    table = dict(values) if isinstance(values, dict) else {}
    parameters = ", ".join(f"{k} = {v}" for k, v in table.items() if k != "name")
    name = spec.workload.name
    facts = [("workload", f"{name} ({parameters})" if parameters else name)]
    return [*facts, ("", spec.workload.preset.what)]


def _limits_text(spec: StudySettings) -> str:
    if spec.online is not None:
        return "none, because online tuning checks no limits"
    return "; ".join(map(str, spec.parsed_objective.limits)) or "none"


def _online_time_text(spec: StudySettings, online: Online) -> str:
    shortest, longest = map(format_duration, online_s(spec, online))
    return f"{shortest} to {longest} (estimate)"


def _online_facts(spec: StudySettings, online: Online) -> list[tuple[str, str]]:
    count, each = online.windows, format_duration(online.window_s)
    return [
        ("changes", f"{spec.number_of_trials} at most, one at a time, while the workload runs"),
        ("windows", f"{count} of {each} before each change, and up to {count} with the "
                    f"change; if the change looks like a gain, {count} more after lsmtune undid "
                    "it"),
    ]  # fmt: skip


def _run_facts(spec: StudySettings, knobs: int) -> list[tuple[str, str]]:
    facts = [("runs of the baseline", str(spec.base_runs)), ("search", _search_text(spec, knobs))]
    if spec.repeats:
        finals = (
            f"the {spec.finalists} best configs run {spec.repeats} more times each; if none of "
            f"them has a proven gain, up to {(GROUPS_OF_FINALISTS - 1) * spec.finalists} more do"
        )
        facts.append(("repeats", finals))
    if spec.pairs:
        most_pairs = max(spec.pairs, spec.max_pairs)
        facts.append(("verification", f"{spec.pairs} to {most_pairs} pairs of runs of winner and "
                      "baseline; if they prove no gain, the same for the second best "
                      "config"))  # fmt: skip
    else:
        facts.append(("verification", "none (--pairs 0)"))
    return facts
