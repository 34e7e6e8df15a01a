"""Options before and after a change, compared by meaning and field by field."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.knobs.defaults import is_address
from lsmtune.knobs.option_meaning import expanded, is_same

_DATABASE, _DEFAULT = "", "default"
_MANY = 50
"""RocksDB writes more options of the database or of a family; a person writes fewer."""

Texts = tuple[str | None, str | None]
"""The text before and after; None where a side does not contain the option."""
_Scopes = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class ComparedOptions:
    """The options that differ, by name; those of a column family as `family.option`.

    `is_complete` says of each side whether it contains all options, as a LOG or an OPTIONS file
    of RocksDB does. `scopes` are the column families that were compared, `families` those that
    only one side has.
    """

    differ: Mapping[str, Texts] = field(default_factory=dict)
    is_complete: tuple[bool, bool] = (False, False)
    families: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    scopes: tuple[str, ...] = ()
    are_compared: bool = False

    @property
    def shown(self) -> dict[str, Texts]:
        """The rows for people: without options that only a complete side contains.

        A complete side contains them because its version has them, or because a person wrote
        down no more than the own changes.
        """
        return {
            name: texts
            for name, texts in self.differ.items()
            if not any(
                text is None and complete
                for text, complete in zip(texts, reversed(self.is_complete), strict=True)
            )
        }


def compare_options(before: Inspection, after: Inspection) -> ComparedOptions:
    """Compare the options; nothing if a side contains none."""
    old, new = (_scopes(log) for log in (before, after))
    if not any(old.values()) or not any(new.values()):
        return ComparedOptions()
    complete = (_is_complete(old), _is_complete(new))
    _align(old, new)
    _align(new, old)
    differ: dict[str, Texts] = {}
    for scope in dict.fromkeys((*old, *new)):
        if scope in (_DATABASE, _DEFAULT) or (scope in old and scope in new):
            differ |= _of_scope(scope, old.get(scope, {}), new.get(scope, {}))
    families = (
        tuple(scope for scope in old if scope not in new and scope not in (_DATABASE, _DEFAULT)),
        tuple(scope for scope in new if scope not in old and scope not in (_DATABASE, _DEFAULT)),
    )
    scopes = tuple(scope for scope in old if scope in new and scope not in (_DATABASE, _DEFAULT))
    return ComparedOptions(differ, complete, families, scopes, are_compared=True)


def _scopes(log: Inspection) -> _Scopes:
    return {scope: expanded(options) for scope, options in log.options.items()}


def _is_complete(scopes: _Scopes) -> bool:
    return max(len(options) for options in scopes.values()) >= _MANY


def _align(side: _Scopes, other: _Scopes) -> None:
    """Move options to the scope in which the other side has them.

    A my.cnf and an options string do not say whether an option belongs to the database.
    """
    for scope, right in ((_DATABASE, _DEFAULT), (_DEFAULT, _DATABASE)):
        own, there = side.get(scope, {}), other.get(right, {})
        moved = [
            name
            for name in own
            if name in there
            and name not in other.get(scope, {})
            and name not in side.get(right, {})
        ]
        for name in moved:
            side.setdefault(right, {})[name] = own.pop(name)


def _of_scope(scope: str, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, Texts]:
    found: dict[str, Texts] = {}
    for name in dict.fromkeys((*old, *new)):
        texts = old.get(name), new.get(name)
        if any(text is not None and (is_address(text) or "0x" in text) for text in texts):
            continue
        if None not in texts and is_same(name, texts[0] or "", texts[1] or ""):
            continue
        found[f"{scope}.{name}" if scope not in (_DATABASE, _DEFAULT) else name] = texts
    return found
