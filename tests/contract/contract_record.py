"""The record of the contract: reading it, comparing with it, and writing it again."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
KEYED_BY_DATA = {
    "best_at", "bounds", "by_reason", "changed", "config", "factors", "fixed", "goals", "knobs",
    "metrics", "mix", "models_chosen", "optimizers", "options_changed", "options_given", "ratios",
    "runs_by_role", "stall_stretches_s", "stalls", "trials_to_target", "when",
}  # fmt: skip
"""Dictionaries keyed by metrics, knobs or the like: their shape is that of one value."""


def check(name: str, found: Any, *, write: bool) -> None:
    """Compare with the file of the record; write it instead when told to."""
    path = FOLDER / f"{name}.json"
    if write:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    assert found == json.loads(path.read_text()), f"{name} differs from the record of the contract"


def shape(value: Any, key: str = "") -> Any:
    """Return the shape of a JSON document: keys and types, without values."""
    if isinstance(value, dict):
        if key in KEYED_BY_DATA:
            return {"each": _joined([shape(one) for one in value.values()])}
        return {name: shape(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_joined([shape(one) for one in value])]
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "string"


def joined(shapes: list[Any]) -> Any:
    """Return one shape for several documents of the same command."""
    return _joined(shapes)


def _joined(shapes: list[Any]) -> Any:
    plain = {text for one in shapes if isinstance(one, str) for text in one.split(" or ")}
    dicts = [one for one in shapes if isinstance(one, dict)]
    lists = [one for one in shapes if isinstance(one, list)]
    parts: list[Any] = [" or ".join(sorted(plain))] if plain else []
    if dicts:
        parts.append(_joined_keys(dicts))
    if lists:
        parts.append([_joined([one for some in lists for one in some if one != "nothing"])])
    if not parts:
        return "nothing"
    return parts[0] if len(parts) == 1 else {"one of": parts}


def _joined_keys(dicts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the keys of all; one that is missing in some ends in a question mark."""
    plain = [{name.removesuffix("?"): part for name, part in one.items()} for one in dicts]
    names = sorted({name for one in plain for name in one})
    always = {name for name in names if all(name in one for one in dicts)}
    return {
        name if name in always else f"{name}?": _joined([one[name] for one in plain if name in one])
        for name in names
    }
