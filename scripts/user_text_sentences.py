"""Sentences of a text: where they end, how long they are, and what breaks a rule in them."""
# ruff: noqa: RUF001 - users read typographic characters

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MIN_PROSE_WORDS = 8
"""Text without a full stop counts as prose from this length on; shorter text is a label."""
MIN_MESSAGE_WORDS = 3

# Marks inside a text: characters of a private range, removed before text is shown.
LINK, END_LINK, PLACEHOLDER = "\ue000", "\ue001", "\ue002"
_SHIFT = 0xE100
"""The name of a placeholder follows its mark, moved to a private range of characters."""
NAME = "[\ue100-\ue1ff]"


def placeholder(name: str) -> str:
    """Return the mark of a value that is filled in, with the name that readers see."""
    return PLACEHOLDER + "".join(chr(_SHIFT + ord(c)) for c in name if c.isascii())


def _placeholder_text(found: re.Match[str]) -> str:
    name = "".join(chr(ord(c) - _SHIFT) for c in found[1])
    return f"<{name}>" if name else "…"


@dataclass(frozen=True)
class Text:
    """A paragraph, a list item, a table cell or a message."""

    path: str
    line: int
    heading: str
    text: str
    complete: bool = True
    """Whether it is understandable alone; False for a part of a longer message."""


@dataclass(frozen=True)
class Sentence(Text):
    """One sentence of a text."""

    @property
    def shown(self) -> str:
        """The sentence without marks, on one line."""
        return shown(self.text)


def shown(text: str) -> str:
    """Return the text as a reader sees it, on one line."""
    text = re.sub(f"[{LINK}{END_LINK}]", "", text)
    text = re.sub(f"{PLACEHOLDER}({NAME}*)", _placeholder_text, text)
    return " ".join(text.split())


_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'])(?:e\.\s?g|i\.\s?e|vs|cf|approx|ca|resp|incl|al|[Ff]ig|[Ss]ec|No|p|pp|\d+|[A-Z])$"
)
_STOP = re.compile(rf"[.!?]+[\"'”’)\]{END_LINK}]*(?=\s)")
_CODE = re.compile(r"(`+).+?\1", re.DOTALL)


def split_sentences(text: str) -> list[tuple[int, str]]:
    """Split a text; return each sentence with its offset."""
    masked = _CODE.sub(lambda found: "`" + "x" * (len(found[0]) - 2) + "`", text)
    starts = [0]
    for stop in _STOP.finditer(masked):
        before = masked[starts[-1] : stop.start()].lstrip()
        following = masked[stop.end() :].lstrip()
        dotted = stop[0].startswith(".")
        if not following or (dotted and _is_abbreviation(before, following)):
            continue
        if not dotted or not stop[0].startswith("..") or not following[0].islower():
            starts.append(stop.end())
    ends = [*starts[1:], len(text)]
    pieces = [(start, text[start:end]) for start, end in zip(starts, ends, strict=True)]
    return [(start + len(s) - len(s.lstrip()), s.strip()) for start, s in pieces if s.strip()]


def _is_abbreviation(before: str, following: str) -> bool:
    found = _ABBREVIATION.search(before)
    if found is None:
        return False
    last = found[0].lstrip(" \n\t([\"'")
    if last.isdigit():  # "1. First" at the start is an item; "… in level 0. Then" is a stop
        return before.strip() == last
    if last.isupper():  # an initial, but also "phase A. The next"
        return following[:1].islower()
    return True


def count_words(text: str) -> int:
    """Count tokens with a letter; a code span, an address or a placeholder is one word."""
    return sum(
        any(c.isalpha() or c == PLACEHOLDER for c in token)
        for token in _CODE.sub(" code ", text).split()
    )


def count_semicolons(text: str) -> int:
    """Count semicolons outside code."""
    return _CODE.sub("", text).count(";")


_NUMBER = rf"(?:\d[\d.,]*|[{PLACEHOLDER}…]{NAME}*)"
_UNIT = (
    r"(?:%|×|x|[KMGT]i?B|B|[nµum]?s|min|h|d|bytes?|seconds?|minutes?|hours?|days?|ops)(?![A-Za-z])"
)
_EXEMPT = re.compile(
    rf"`|[{LINK}]|https?://"
    rf"|{_NUMBER}\s*(?:–|-|\.\.|to)\s*[-−]?{_NUMBER}"  # an interval
    rf"|{_NUMBER}\s*{_UNIT}"  # a number with a unit
    r"|(?:^|\s)--?[a-z]|\w_\w|\w+=|\w\.(?:toml|md|cnf|py|json|html|txt|c)\b"  # code
    r"|^[\d.,\s+−-]*$"  # a number
)


def count_brackets(text: str) -> int:
    """Count pairs of brackets, except those with an interval, a quantity, a link or code."""
    text = _CODE.sub("`code`", text)
    count, opened = 0, list[int]()
    for place, character in enumerate(text):
        if character in "([":
            opened.append(place)
        elif character in ")]" and opened:
            start = opened.pop()
            content = text[start + 1 : place]
            attached = start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_^")
            single = text[start] == "[" and " " not in content.strip()  # [online], [16]
            count += not (attached or single or _EXEMPT.search(content))
    return count


def find_sentences(texts: Iterable[Text], group: str) -> list[Sentence]:
    """Return the sentences of a group, without labels; what is repeated appears once."""
    found: dict[str, Sentence] = {}
    for text in texts:
        for offset, sentence in split_sentences(text.text):
            line = text.line + text.text.count("\n", 0, offset)
            if _is_prose(sentence, group):
                item = Sentence(text.path, line, text.heading, sentence, text.complete)
                found.setdefault(re.sub(r"\d[\d.,]*", "0", item.shown), item)
    return list(found.values())


def _is_prose(sentence: str, group: str) -> bool:
    words = count_words(sentence)
    if group == "messages":
        return words >= MIN_MESSAGE_WORDS
    return words >= _MIN_PROSE_WORDS or (words > 1 and ends_with(sentence, ".!?:"))


def ends_with(sentence: str, stops: str) -> bool:
    """Return whether a sentence ends with one of the stops, before quotes and brackets."""
    return sentence.rstrip(f"\"'”’)]{END_LINK}").endswith(tuple(stops))
