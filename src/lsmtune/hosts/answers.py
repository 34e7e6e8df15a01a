"""The answers of workers as records, and as sentences when there is no answer."""

import json
from typing import Any

from pydantic import ValidationError

from lsmtune import __version__
from lsmtune.errors import UserError
from lsmtune.hosts.remote import Kept
from lsmtune.hosts.task import HostInfo, HostResult


def result_of(kept: Kept) -> HostResult:
    """Return the result that a host has sent."""
    text, evidence = kept
    return HostResult.model_validate_json(text).model_copy(update={"evidence": evidence})


def info_of(address: str, answer: Any, now_s: float) -> HostInfo:
    """Return the state that a host has given as JSON, or why there is none."""
    if isinstance(answer, Exception):
        return HostInfo(address=address, problem=unusable(answer))
    found = json.loads(answer)
    if found.get("lsmtune") != __version__:
        return HostInfo(
            address=address,
            host=str(found.get("host", "")),
            node=str(found.get("node", "")),
            lsmtune=str(found.get("lsmtune", "")),
            problem=(
                f"lsmtune {found.get('lsmtune')} runs there, but {__version__} here; install the "
                "same version on all hosts"
            ),
        )
    try:
        info = HostInfo.model_validate(found)
    except ValidationError:
        problem = "another build of lsmtune runs there; install the same version on all hosts"
        return HostInfo(address=address, problem=problem)
    return info.model_copy(update={"address": address, "clock_offset_s": info.now_s - now_s})


def unusable(error: Exception) -> str:
    """Return why a worker cannot be used, from what a call on it has raised."""
    if isinstance(error, ImportError | AttributeError):
        return "lsmtune is not installed there, or in another version; install the same version"
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, TimeoutError | OSError):
        return "the worker does not answer; see whether the host is frozen or cut off"
    return f"the worker failed: {type(error).__name__}: {error}"


def name_of(info: HostInfo) -> str:
    """Return the host as messages name it."""
    return f"{info.host} ({info.node}, {info.address})"
