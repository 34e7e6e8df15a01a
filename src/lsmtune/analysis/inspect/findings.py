"""What is wrong, by rules: each looks at one thing and says nothing where it sees nothing.

A rule's weight is the share of the load that suffers times how likely the options it names are
the cause, so that of several findings the one to act on first comes first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from lsmtune.analysis.inspect.facts import Fact
from lsmtune.analysis.inspect.first_steps import Step, first_step, options_of
from lsmtune.analysis.inspect.inspection import Finding, Inspection, Verdict
from lsmtune.analysis.inspect.rule import Rule, number_or_default, server_default
from lsmtune.knobs.advice import name_in_texts
from lsmtune.knobs.defaults import is_address
from lsmtune.knobs.families import FAMILY_SECTIONS
from lsmtune.knobs.option_names import section_of
from lsmtune.metrics.log_notices import Notices

_FILES = Path(__file__).with_name("rules").glob("[a-z]*.py")
_MODULES = sorted(
    (import_module(f"lsmtune.analysis.inspect.rules.{path.stem}") for path in _FILES),
    key=lambda module: (module.ORDER, module.__name__),
)

RULES: tuple[Rule, ...] = tuple(rule for module in _MODULES for rule in module.RULES)
"""The rules of all files in `rules/`."""

FIRST_STEPS: Mapping[str, tuple[Step | str, ...]] = {
    code: steps if isinstance(steps, tuple) else (steps,)
    for module in _MODULES
    for code, steps in module.FIRST_STEPS.items()
}
"""The first steps for each code of a finding."""

_CHECKS: Mapping[str, str] = {
    code: check for module in _MODULES for code, check in getattr(module, "CHECKS", {}).items()
}
_USUAL_CHECK = "lsmtune inspect does not report {}"

NOTICES: Notices = {
    name: mark for module in _MODULES for name, mark in getattr(module, "NOTICES", {}).items()
}
"""The lines of a LOG that rules look for."""

_LEAST_WEIGHT = 0.01
_MOST_NAMED = 3


def judged(log: Inspection) -> Inspection:
    """Return the inspection with its findings, the one to act on first first, and its verdict."""
    found = [finding for rule in RULES for finding in _found(rule, log)]
    if _has_one_family(log):
        found = [replace(finding, family=None) for finding in found]
    needs = dict.fromkeys(need for rule in RULES for need in rule.needs)
    lacking = [need for need in needs if not need.is_there(log)]
    needed = tuple(need.advice for need in lacking)
    here = tuple(advice for need in lacking if (advice := need.here(log)) is not None)
    verdict: Verdict = "insufficient_data" if needed else "no_findings"
    findings = tuple(sorted(_grouped(found), key=lambda finding: -finding.weight))
    return replace(
        log, findings=findings, verdict="findings" if findings else verdict, needed=needed,
        needed_here=here,
    )  # fmt: skip


def _found(rule: Rule, log: Inspection) -> Iterator[Finding]:
    """Yield what a rule finds, with the first steps, the values of options and disputed facts."""
    with log.facts.watched() as disputed:
        found = [finding for finding in rule.find(log) if finding.weight >= _LEAST_WEIGHT]
    doubts = "".join(f" {_doubt(*pair)}" for pair in disputed)
    for finding in found:
        yield with_step(replace(finding, evidence=f"{finding.evidence}{doubts}"), log)


def with_step(finding: Finding, log: Inspection) -> Finding:
    """Return a finding with its first step, and with the values of its options."""
    steps, family = FIRST_STEPS[finding.code], finding.family or log.main_family
    current = {
        name: value
        for name in options_of(steps, finding.look_at)
        if (value := _written(log, name, family)) is not None
    }
    step = first_step(steps, finding.look_at, current, log, family)
    check = finding.check or _CHECKS.get(finding.code, _USUAL_CHECK.format(finding.code))
    return replace(finding, current=current, step=step, check=check)


def _written(log: Inspection, option: str, family: str) -> str | None:
    """Return an option as the text has it, of a column family, else of the store.

    The default of the server or of RocksDB counts where a file leaves out an option.
    """
    name = name_in_texts(option)
    own, store = (log.options.get(scope, {}).get(name) for scope in (family, ""))
    value = store if own is None else own
    of_server = server_default(log, name) is not None
    if value is None and (of_server or section_of(name) in FAMILY_SECTIONS):
        value = f"{default:.15g}" if (default := number_or_default(log, family, name)) else None
    return None if value is None or is_address(value) else value


def _doubt(used: Fact, other: Fact) -> str:
    """Return which of two sources that disagree was used."""
    return (
        f"Sources disagree on {used.name}: {used.value:,.4g} ({used.source}, used here) and "
        f"{other.value:,.4g} ({other.source})."
    )


def _has_one_family(log: Inspection) -> bool:
    """Whether a name of a column family would say nothing, because there is no other one."""
    named = {level.family for level in log.levels} | {stall.family for stall in log.stalls}
    named = (named | log.level_0.keys()) - {""}
    return {*log.families, *named} <= {"default"} or (
        len(log.families) == 1 and named <= {*log.families}
    )


def _grouped(found: list[Finding]) -> Iterator[Finding]:
    """Give one finding for all column families in which a rule found the same.

    Its evidence is that of the family which suffers most.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.code, finding.title), []).append(finding)
    for own in groups.values():
        first = max(own, key=lambda finding: finding.weight)
        names = [finding.family for finding in own if finding.family]
        if len(names) > 1:
            listed = ", ".join(names[:_MOST_NAMED])
            in_all = f" ({len(names)} in all)" if len(names) > _MOST_NAMED else ""
            evidence = f"In {first.family}: {first.evidence}"
            first = replace(first, evidence=evidence, family=f"{listed}{in_all}")
        yield first
