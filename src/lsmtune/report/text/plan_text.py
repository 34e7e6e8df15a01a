"""The plan of a study in words: workload, limits, runs, search."""

from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.knob_text import readable_range
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Settings
from lsmtune.report.text.facts import what_runs
from lsmtune.simulator import RUNNING_COMPARED, UNMODELLED_KNOBS
from lsmtune.spec import Ground, StudySettings
from lsmtune.spec_defaults import reason_filled, without_effect
from lsmtune.study.search import GROUPS_OF_FINALISTS
from lsmtune.study.stopping import fewest_trials
from lsmtune.tables import Online
from lsmtune.units import format_bytes, format_duration


def workload_facts(spec: StudySettings) -> list[tuple[str, str]]:
    """Return name and parameters of the workload, and what it does."""
    values = spec.workload.told
    table = dict(values) if isinstance(values, dict) else {}
    parameters = ", ".join(f"{k} = {v}" for k, v in table.items() if k != "name")
    name = spec.workload.name
    facts = [("workload", f"{name} ({parameters})" if parameters else name)]
    return [*facts, ("", what_runs(spec.workload, spec.engine))]


def measure_facts(spec: StudySettings, base: Settings) -> list[tuple[str, str]]:
    """Return how the trials measure, and why; `base` has the settings of the baseline."""
    entry = ENGINES[spec.engine]
    if spec.online is not None:
        return []
    if not spec.is_running:
        reason = reason_filled(spec, entry, base)
        why = "you set measure = filled" if reason is None else reason
        return [("measured", f"filled stores, because {why}"), *_blob_facts(spec, base)]
    rate, is_share = spec.given_rate
    text = (
        f"{100 * rate:g} % of what the baseline can take here; not your rate" if is_share
        else f"{rate:,.0f} operations/s"
    )  # fmt: skip
    facts = [("measured", f"a running store at a fixed rate: {text}")]
    if spec.latency_limit is not None:
        facts.append(("", f"capacity: the highest rate at which {spec.latency_limit}"))
    if ages := without_effect(spec, base, entry.catalogue().defaults(1)):
        facts.append(("", f"{' and '.join(ages)} of the baseline do not act within seconds"))
    return [*facts, *_blob_facts(spec, base)]


def _blob_facts(spec: StudySettings, base: Settings) -> list[tuple[str, str]]:
    """Return that the values of the workload are too small for the blob files of the baseline."""
    least, size = base.get("min_blob_size"), spec.workload.value_size
    if not base.get("enable_blob_files") or not isinstance(least, int) or size >= least:
        return []
    text = (
        f"tables without blob files, because values of {format_bytes(size)} are below "
        f"min_blob_size = {format_bytes(least)} of the baseline; set value_size of the workload to "
        "the mean size of your values"
    )
    return [("", text)]


def knobs_text(spec: StudySettings, knobs: int) -> str:
    """Return the number of knobs and their presets, or why the workload has these presets."""
    entry, load = ENGINES[spec.engine], spec.workload
    presets = entry.catalogue().presets_in(spec.knobs)
    reasons = [one.because.format(**load.model_dump()) for one in presets if one.because]
    is_suited = entry.complete({"workload": load}).get("knobs") == spec.knobs
    why = reasons if reasons and is_suited else [one.name for one in presets]
    return ", ".join((str(knobs), *why))


def optimizer_text(spec: StudySettings) -> str:
    """Return the optimizer, and why it is not `guided` if the simulator cannot lead the search."""
    entry = ENGINES[spec.engine]
    if spec.optimizer != "tpe" or entry.predicted_by is None:
        return spec.optimizer
    knobs = {knob.name for knob in entry.catalogue().select(spec.knobs)}
    if unknown := sorted(UNMODELLED_KNOBS & knobs):
        return f"tpe; guided needs the simulator, which does not know {unknown[0]}"
    if spec.is_running and not RUNNING_COMPARED:
        return "tpe; guided needs the simulator, whose errors on running stores are not measured"
    return "tpe"


def limits_text(spec: StudySettings) -> str:
    """Return the limits of the study."""
    if spec.online is not None:
        return "none, because online tuning checks no limits"
    return "; ".join(map(str, spec.parsed_objective.limits)) or "none"


def memory_facts(ground: Ground, space: KnobSpace) -> list[tuple[str, str]]:
    """Return the memory limit, if it is known how much memory settings need."""
    if not ground.catalogue.has_memory:
        return []
    return [("memory", _memory_limit_text(ground, space))]


def _memory_limit_text(ground: Ground, space: KnobSpace) -> str:
    """Return the memory limit, and what it is for."""
    limit = format_bytes(space.full_size.memory.limit_bytes)
    if ground.rule is None:
        return f"at most {limit} for memtables and caches"
    return (
        f"at full size at most {limit} for memtables, caches, and index and filter blocks outside "
        "the block cache"
    )


def online_facts(spec: StudySettings, online: Online) -> list[tuple[str, str]]:
    """Return the steps of online tuning."""
    count, each = online.windows, format_duration(online.window_s)
    return [
        ("changes", f"{spec.number_of_trials} at most, one at a time, while the workload runs"),
        ("windows", f"{count} of {each} before each change, and up to {count} with the "
                    f"change; if the change looks like a gain, {count} more after lsmtune undid "
                    "it"),
    ]  # fmt: skip


def run_facts(spec: StudySettings, knobs: int) -> list[tuple[str, str]]:
    """Return the runs of the study, step by step, for a number of knobs."""
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


def _search_text(spec: StudySettings, knobs: int) -> str:
    """Return what ends the search."""
    ends = [] if spec.trials is None else [f"after {spec.trials} trials"]
    if spec.budget_s is not None:
        ends.append(f"after {format_duration(spec.budget_s)}")
    if isinstance(spec.until, int):
        ends.append(f"after {spec.until} trials in a row without a gain")
    elif spec.until is not None:
        fewest = fewest_trials(knobs)
        ends.append(f"when lsmtune expects no further gain, at the earliest after {fewest} trials")
    return "ends " + ", or ".join(ends)


def range_rows(space: KnobSpace) -> list[tuple[str, str]]:
    """Return the knobs with the ranges that are searched."""
    return [(knob.name, readable_range(knob)) for knob in space.knobs]
