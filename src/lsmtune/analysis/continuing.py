"""The command that continues an interrupted study, or starts a new one from it."""

from collections.abc import Iterator
from shlex import quote
from typing import Any

from lsmtune.engine_traits import has_versions
from lsmtune.errors import UserError
from lsmtune.spec import StudySettings, make_spec
from lsmtune.spec_defaults import DRIVER
from lsmtune.study_keys import VERSION

FLAGS = {
    "workload": "--workload", "num": "--num", "engine": "--engine", "program": "--db-bench",
    VERSION: "--rocksdb", "library": "--library", "base": "--base", "family": "--family",
    "cache": "--cache",
    "measure": "--measure", "rate": "--rate", "capacity": "--capacity",
    "scale": "--scale", "knobs": "--knobs", "objective": "--objective", "limits": "--limit",
    "memory": "--memory", "deploy_cores": "--deploy-cores", "optimizer": "--optimizer",
    "warm_start": "--warm-start",
    "trials": "--trials", "budget": "--budget", "until": "--until", "pairs": "--pairs",
    "study": "--study", "seed": "--seed", "simplify": "--simplify",
    "new_store": "--new-store", "one_way": "--one-way",
}  # fmt: skip
"""The flag of `lsmtune tune` for each setting that has one."""


def continue_command(spec: StudySettings) -> str | None:
    """Return the shortest command that continues the study.

    None if a setting has no flag, so that the user needs the study file.
    """
    settings = spec.model_dump(mode="json")
    given = {key: settings[key] for key in FLAGS if settings.get(key) is not None}
    given |= {"workload": spec.workload.name}
    if spec.workload.definition.has("num"):
        given |= {"num": spec.workload.num}
    if not has_versions(spec.engine) or spec.program == DRIVER:
        del given["program"]  # the flag names a db_bench
    if not _gives(given, spec):
        return None
    for key in (name for name in FLAGS if name not in _chosen(spec)):
        shorter = {name: value for name, value in given.items() if name != key}
        if _gives(shorter, spec):
            given = shorter
    words = ["lsmtune tune"]
    for key in (name for name in FLAGS if name in given):
        value = given[key]
        words += list(_flags(FLAGS[key], value))
    return " ".join(words)


def _flags(flag: str, value: Any) -> Iterator[str]:
    """Give a flag with its value, once per item of a list; a switch has no value."""
    if isinstance(value, bool):
        yield flag if value else flag.replace("--", "--no-", 1)
        return
    for item in value if isinstance(value, list) else [value]:
        yield f"{flag} {quote(str(item))}"


def _chosen(spec: StudySettings) -> set[str]:
    """Return the settings that stay in the command: without them, `tune` would choose them anew."""
    is_found_by_name = spec.study is not None or spec.workload.definition.needs_db_bench
    return {"optimizer"} if is_found_by_name else {"optimizer", "program"}


def _gives(given: dict[str, Any], spec: StudySettings) -> bool:
    """Return whether `lsmtune tune` makes the same study of these flags."""
    settings = {key: value for key, value in given.items() if key not in ("workload", "num")}
    settings["workload"] = {
        setting: given[key] for key, setting in (("workload", "name"), ("num", "num"))
        if key in given
    }  # fmt: skip
    try:
        return make_spec(settings, "").model_dump() == spec.model_dump()
    except UserError:
        return False
