"""`lsmtune trials`: every trial of a study, as a table or for other programs."""

import csv
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home, Json, StudyName
from lsmtune.cli.output import print_json, say, say_all
from lsmtune.cli.tables import Column, table_lines
from lsmtune.errors import UserError

if TYPE_CHECKING:
    from lsmtune.api.study_result import TrialView

_ROLES = {
    "rate": "capacity", "base": "baseline", "trial": "trial", "repeat": "repeat",
    "shared": "shared", "online": "online", "simplify": "fewer changes",
    "verify_base": "verify baseline", "verify_best": "verify winner",
    "verify_raw": "verify all changes",
}  # fmt: skip
"""Words of the table; --json, --jsonl and --csv print the stored values."""


def trials(
    study: StudyName,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="Print JSON lines.")] = False,
    disturbed: Annotated[
        bool,
        typer.Option("--disturbed", help="Also list disturbed runs that were repeated."),
    ] = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """List the trials of a study, including the runs of the baseline and the verification.

    The objective is a ratio to the baseline; a ratio below 1 is a gain. Each line shows one run;
    for a trial that ran again, "all runs" shows the median of all runs of its config. "limits"
    names the limits that a config does not surely keep. The table leaves out disturbed runs that
    were repeated; --json, --jsonl and --csv have them.
    """
    from lsmtune.api.study_result import stored_result, trials_document

    if as_csv + as_jsonl + as_json > 1:
        raise UserError("trials: use only one of --csv, --jsonl and --json")
    view = stored_result(study, home).view
    rows = trials_document(view)
    if as_json:
        print_json(rows)
    elif as_jsonl:
        for row in rows:
            say(json.dumps(row))
    elif as_csv:
        _print_csv([_flat(row) for row in rows])
    else:
        say_all(_table(view.trials if disturbed else view.measured))


def _table(trials: "Sequence[TrialView]") -> list[str]:
    from lsmtune.report.text.metric_words import status_text

    has_hosts = len({trial.host for trial in trials}) > 1
    is_online = any(t.role.value == "online" for t in trials)
    columns = [
        Column("trial", right=True), *([Column("host")] if has_hosts else []),
        Column("role", at_least=11), Column("status", at_least=12),
        *([] if is_online
          else [Column("objective", right=True), Column("all runs", drop=2),
                Column("limits", at_least=8)]),
        Column("changed options", at_least=24, drop=0 if is_online else 4),
        Column("time", right=True, drop=1), Column("reason", at_least=12, drop=3),
    ]  # fmt: skip
    rows = [
        (
            str(t.number), *([t.host or ""] if has_hosts else []), _ROLES[t.role.value],
            status_text(t.status),
            *(() if is_online else (*_objective(t), _limits(t))), _changed(t),
            f"{t.duration_s:.1f} s", t.remark,
        )
        for t in trials
    ]  # fmt: skip
    return table_lines(columns, rows)


def _changed(trial: "TrialView") -> str:
    from lsmtune.report.text.words import option_value

    return ", ".join(f"{c.knob.name} = {option_value(c.best)}" for c in trial.changes)


def _objective(trial: "TrialView") -> tuple[str, str]:
    """Return the objective of the run, and the median of all runs of its config."""
    median = f"{_ratio(trial.median)} of {trial.runs}" if trial.runs > 1 else ""
    return _ratio(trial.value), median


def _limits(trial: "TrialView") -> str:
    """Return the limits that the config does not surely keep."""
    if trial.value is None or trial.keeps is None:
        return ""
    return ", ".join(trial.breaks) or "kept"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.3f} \N{MULTIPLICATION SIGN}"


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in row.items() if not isinstance(value, dict)}
    plain["breaks"] = " ".join(row["breaks"])
    values = {f"value_{goal}": value for goal, value in row["values"].items()}
    bounds = {f"bound_{goal}": value for goal, value in row["bounds"].items()}
    return {**plain, **values, **bounds, **row["config"], **row["metrics"]}


def _print_csv(rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
