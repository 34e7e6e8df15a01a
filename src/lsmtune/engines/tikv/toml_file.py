"""File to deploy on TiKV: its TOML with the tuned keys, and calls that change it at run time."""

import json
from collections.abc import Mapping, Sequence

from lsmtune.engines.exports import Differences
from lsmtune.engines.tikv.flow_control import to_name
from lsmtune.engines.tikv.options import as_told, edited, spelled, value_of
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.tikv_toml import parse_file
from lsmtune.knobs.types import Knob, Settings, Value


def export_tikv_toml(
    knobs: Sequence[Knob],
    catalogue: Catalogue,
    settings: Settings,
    base: Settings,
    text: str,
    *,
    note: str,
) -> str:
    """Return the file with the tuned keys set; every other byte stays.

    `note` becomes a comment at the top. A missing key is added only if its value is not the
    baseline's, or if TiKV would fill in another value when it starts.
    """
    changed = differing(knobs, settings, base, text)
    tuned = edited(text, {knob.name: as_told(knob, settings[knob.name]) for knob in changed})
    missing = to_name(catalogue, settings, parse_file(tuned, "base"))
    filled = {name: as_told(catalogue.knob(name), value) for name, value in missing.items()}
    return "".join(f"# {line}\n" for line in note.splitlines()) + edited(tuned, filled)


def differing(
    knobs: Sequence[Knob], settings: Settings, base: Settings, text: str
) -> tuple[Knob, ...]:
    """Return the knobs that the file has with another value; a missing key is as in the base."""
    given = parse_file(text, "base")

    def value(knob: Knob) -> Value | None:
        return value_of(knob, given[knob.name]) if knob.name in given else base.get(knob.name)

    return tuple(knob for knob in knobs if value(knob) != settings[knob.name])


def differences(
    knobs: Sequence[Knob], settings: Settings, base: Settings, text: str
) -> Differences:
    """Return the keys of a tikv.toml that do not have the value of the settings."""
    given = parse_file(text, "base")
    return {
        knob.name: (
            spelled(given[knob.name]) if knob.name in given else None,
            spelled(as_told(knob, settings[knob.name])),
        )
        for knob in differing(knobs, settings, base, text)
    }


def deployment_lines(knobs: Sequence[Knob], settings: Settings, status: str) -> list[str]:
    """Return notes: which keys can change in a running TiKV, and which need a restart.

    `status` is the address of its status server.
    """
    if not knobs:
        return ["This file changes no option."]
    online = {k.name: as_told(k, settings[k.name]) for k in knobs if k.apply == "online"}
    restart = [knob.name for knob in knobs if knob.apply == "restart"]
    lines = _online_lines(online, status) if online else []
    if restart:
        lines.append("These keys take effect only after a restart with this file:")
        lines += [f"  {name}" for name in restart]
    return lines


def _online_lines(online: Mapping[str, object], status: str) -> list[str]:
    body = json.dumps(online)
    calls = [f"  tikv-ctl --host HOST:20160 modify-tikv-config -n {name} -v {spelled(value)}"
             for name, value in online.items()]  # fmt: skip
    return [
        "TiKV can change these keys while it runs, and writes the new values into its own file. "
        "To change all keys, run this command for each node:",
        f"  curl -X POST http://{status}/config -d '{body}'",
        "To change only some keys, run their commands for each node:",
        *calls,
    ]
