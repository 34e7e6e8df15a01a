"""Headings of messages and help: what a user sees around a text of a module."""

import ast
import re
from pathlib import Path

TABLES = {
    "STUDY_KEYS": "", "WORKLOAD_KEYS": "workload.", "PROTOCOL_KEYS": "protocol.",
    "SCREEN_KEYS": "screen.", "SWEEP_KEYS": "sweep.", "ONLINE_KEYS": "online.",
    "TIKV_KEYS": "tikv.", "MIX_KEYS": "workload.mix.",
}  # fmt: skip
"""Place in a study file of the keys that a table of help explains."""
NAMED = {"workloads/presets.py": "workload", "metrics/definitions.py": "metric"}
"""What the keys of a module with a table of texts are."""
_COMMAND_OF = {
    "tuning": "tune", "plan": "tune", "usual_optimizer": "tune", "showing": "show",
    "comparing": "compare", "exporting": "export", "importances": "importance",
    "inspecting": "inspect", "reproducing": "reproduce", "screening": "screen",
    "simulating": "simulate", "sweeping": "sweep", "checks": "doctor", "lists": "knobs",
}  # fmt: skip
_SHARED = {"common", "main", "progress", "program", "tables", "baseline", "knob_values",
           "ranked_knobs", "study_schema"}  # fmt: skip
# The first start of a path that fits counts.
_ERRORS = {
    "engines/embedded/__init__.py": " of `lsmtune tune`",
    "engines/myrocks/__init__.py": " of `lsmtune tune`",
    "engines/rocksdb/__init__.py": " of `lsmtune tune`",
    "engines/tikv/__init__.py": " of `lsmtune tune` with TiKV",
    "studies/calibration.py": " of `lsmtune doctor --calibrate`",
    "studies/screen.py": " of `lsmtune screen`", "studies/sweep.py": " of `lsmtune sweep`",
    "studies/online.py": " of online tuning",
    "spec.py": " about a study file", "tables.py": " about a study file",
    "experiment.py": " about a study file", "workloads/": " about a study file",
    "objective.py": " about an objective or constraint", "batch.py": " about a batch file",
    "knobs/": " about knobs", "metrics/options_file.py": " about an OPTIONS file",
    "analysis/inspect/": " about a LOG", "metrics/log": " about a LOG",
    "metrics/compaction_table.py": " about a LOG", "store/": " about the folder of studies",
    "simulator/": " of the simulator", "studies/verify.py": " of `lsmtune verify`",
    "studies/": " about a study", "analysis/": " about a study",
    "engines/tikv/": " of a trial with TiKV",
    "engines/myrocks/": " of a trial with MyRocks", "engines/": " of a trial",
    "metrics/statistics.py": " about a statistics dump", "metrics/": " of a trial",
    "system/lock.py": " about two lsmtune processes at the same time",
    "system/workdir.py": " about a work directory",
    "system/": " about a program that lsmtune starts", "optimizers/": " about an optimizer",
    "units.py": " about a number or size", "errors.py": " about an unknown name",
    "cli/knob_values.py": " about the value of a knob", "cli/": " of a command",
    "comparison/": " of `lsmtune compare`",
    "learning/": " of `lsmtune importance`", "recipes/": " of `lsmtune reproduce`",
}  # fmt: skip
_OUTPUT = {
    "cli/baseline.py": "output of `lsmtune tune`: options of your base file",
    "cli/ranked_knobs.py": "output of `lsmtune tune --knobs top:N`: source of the ranking",
    "cli/tables.py": "note below a table of results", "cli/common.py": "output of a command",
    "cli/progress.py": "progress of `lsmtune tune`", "cli/main.py": "lsmtune --help",
    "knobs/rules/refused.py": "rule between options: what RocksDB refuses",
    "knobs/rules/sanitised.py": "rule between options: what RocksDB changes",
    "knobs/rules/": "rule between options: what has no effect",
    "knobs/reference.py": "reference page of the knobs",
    "analysis/inspect/findings.py": "finding of `lsmtune inspect`",
    "analysis/inspect/stall_findings.py": "finding of `lsmtune inspect`",
    "analysis/inspect/study.py": "study file of `lsmtune inspect --to-study`",
    "analysis/inspect/": "note of `lsmtune inspect`", "metrics/log": "note of `lsmtune inspect`",
    "metrics/compaction_table.py": "note of `lsmtune inspect` about a compaction table",
    "metrics/statistics.py": "note of `lsmtune inspect` about a statistics dump",
    "metrics/definitions.py: METRICS": "operation whose latency is a metric",
    "metrics/definitions.py": "description of a metric",
    "knobs/types.py: around": "name of a value of a knob",
    "knobs/constraints.py": "why a config is not allowed",
    "engines/simulated.py: base": "why an option of your OPTIONS file is left out",
    "engines/tikv/__init__.py: base": "note of `lsmtune tune` on the baseline of TiKV",
    "engines/tikv/__init__.py: _not_as_given": "note of `lsmtune tune` on the baseline of TiKV",
    "engines/myrocks/live.py: _TRAITS": "property of the load that online tuning checks",
    "engines/rocksdb/driver/live.py": "property of the load that online tuning checks",
    "engines/rocksdb/options.py: version_notes": "note of `lsmtune tune` on the baseline",
    "engines/rocksdb/options.py": "why an option of your OPTIONS file is left out",
    "engines/myrocks/options.py": "why an option of your my.cnf is left out",
    "trials.py": "status of a trial", "studies/runner.py": "why a trial is disturbed",
    "studies/stopping.py": "why the search ended", "studies/early_stop.py": "why a trial is pruned",
    "studies/calibration.py": "progress of `lsmtune doctor --calibrate`",
    "studies/screen.py: _objection": "why `lsmtune screen` runs one config at a time",
    "studies/screen.py: usable_lines": "error message of `lsmtune screen`",
    "studies/screen.py": "progress of `lsmtune screen`",
    "studies/study.py: _search": "why the search ended",
    "studies/study.py: _end": "why the search ended",
    "studies/study.py: _repeat_finalists": "progress of `lsmtune tune`",
    "studies/online.py: tune_online": "error message of online tuning",
    "studies/online.py": "why an online change was kept or reverted",
    "studies/guard.py": "result of an online change",
    "optimizers/gp_ucb.py: schedule": "allowed values of an option of the optimizer gp-ucb",
    "optimizers/": "output of `lsmtune optimizers`", "report/claim_text.py": "summary of a study",
    "report/export.py": "note in an exported file", "report/tikv_toml.py": "note in a tikv.toml",
    "report/my_cnf.py": "note in a my.cnf", "recipes/": "result of `lsmtune reproduce`",
    "analysis/swept.py": "result of `lsmtune sweep`",
    "analysis/claim.py": "summary of a study", "analysis/read_study.py": "summary of a study",
    "analysis/": "output of `lsmtune show`", "verdict.py": "note on the verification of a winner",
    "system/lock.py: __call__": "progress of `lsmtune tune`",
    "learning/": "output of `lsmtune importance`", "comparison/": "output of `lsmtune compare`",
}  # fmt: skip


def kind_of(place: str, raised: bool) -> str:
    """Return what the texts at a place are, e.g. "progress of `lsmtune tune`"; "" if unknown.

    A text that has no other kind and is not printed by a command is part of an error message.
    """
    inside = place.partition(":")[0]
    command = _COMMAND_OF.get(Path(inside).stem, Path(inside).stem)
    own = inside.startswith("cli/") and command not in _SHARED
    if own and inside != "cli/main.py":
        return f"{'error message' if raised else 'output'} of `lsmtune {command}`"
    for kinds, start in (
        ((_ERRORS, "error message"),) if raised else ((_OUTPUT, ""), (_ERRORS, "error message"))
    ):
        for prefix, kind in kinds.items():
            if place.startswith(prefix):
                return start + kind
    return "error message" if raised else ""


def flag_of(call: ast.Call, name: str) -> str:
    """Return the flag of an option, e.g. `--dry-run`, or the name of an argument."""
    flags = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    argument = isinstance(call.func, ast.Attribute) and call.func.attr == "Argument"
    word = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", name)
    return flags[0] if flags else word.upper() if argument else f"--{word.lower()}"
