"""The file to deploy on TiKV: the tuned keys in its TOML, and the calls for what can go online."""

import json
from collections.abc import Mapping, Sequence

from lsmtune.engines.tikv.options import as_told, edited, parse_file, spelled, value_of
from lsmtune.knobs.types import Knob, Settings


def export_tikv_toml(
    knobs: Sequence[Knob], settings: Settings, base: Settings, text: str, note: str
) -> str:
    """The file with the tuned keys set, every other byte as it was; `note` before it as a comment.

    A key that the file lacks is only added where the value is not the base's.
    """
    told = parse_file(text, "base")
    changes = {
        knob.name: as_told(knob, settings[knob.name])
        for knob in knobs
        if (
            value_of(knob, told[knob.name]) if knob.name in told else base.get(knob.name)
        ) != settings[knob.name]
    }  # fmt: skip
    return "".join(f"# {line}\n" for line in note.splitlines()) + edited(text, changes)


def scope_lines(study: str, *, whole: bool, back: bool) -> list[str]:
    """What the file is, where it is not a whole one: TiKV must not be started with it."""
    if whole:
        return []
    way = " --back" if back else ""
    return [
        "Only [rocksdb] and [storage] of your file, and no file to start TiKV with. Merge them:",
        f"  lsmtune export {study} --format tikv-toml --base tikv.toml{way}",
    ]


def deployment_lines(knobs: Sequence[Knob], settings: Settings, status: str) -> list[str]:
    """How a change to the settings gets into a running TiKV, and what of it needs a restart.

    `status` is the address of its status server.
    """
    if not knobs:
        return ["nothing changes"]
    online = {k.name: as_told(k, settings[k.name]) for k in knobs if k.apply == "online"}
    restart = [knob.name for knob in knobs if knob.apply == "restart"]
    lines = _online_lines(online, status) if online else []
    if restart:
        lines.append("Need a restart with these in the file (and take no effect before it):")
        lines += [f"  {name}" for name in restart]
    return lines


def _online_lines(online: Mapping[str, object], status: str) -> list[str]:
    body = json.dumps(online)
    calls = [f"  tikv-ctl --host HOST:20160 modify-tikv-config -n {name} -v {spelled(value)}"
             for name, value in online.items()]  # fmt: skip
    return [
        "Can be changed while TiKV runs, which then writes it into its own file, on each node:",
        f"  curl -X POST http://{status}/config -d '{body}'",
        "or one by one:",
        *calls,
    ]
