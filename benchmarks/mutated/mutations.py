"""Ways to damage an input: the bytes, the lines, the numbers and words, the nesting."""

import random
import re
from collections.abc import Callable

MOST_BYTES = 200_000
"""A mutated input is cut at this length, so that one case takes milliseconds."""

_DEEP, _LONG, _DIGITS = 50_000, 70_000, 5000
_MOSTLY = 0.8
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(rb"[A-Za-z_][\w.-]*")
_QUOTED = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'")
_NUMBERS = (
    b"0", b"-1", b"1", b"00", b"-0", b"0.0", b"1e400", b"-1e400", b"1e308", b"-1e308", b"5e-324",
    b"1e-400", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808",
    b"18446744073709551616", b"1" + b"0" * 400, b"9" * _DIGITS, b"-" + b"9" * _DIGITS, b"0x10",
    b"1_000", b"NaN", b"nan", b"inf", b"-inf", b"Infinity", b"0." + b"9" * 400, b"1.", b".5",
    "\u0663".encode(), "\u00b2".encode(), b"true", b"null", b"",
)  # fmt: skip
"""In place of a number. Some of them are digits of other scripts or too long for Python."""
_VALUES = (
    b"null", b"true", b"false", b"[]", b"{}", b"[1]", b'["x"]', b'{"x": 1}', b"3", b"-1.5", b'"3"',
    b'""', b'"x"', b"nan", b"[[]]", b'"\\ud800"', b'"\\u0000"', b"1979-05-27", b'"' + b"x" * 300
    + b'"',
)  # fmt: skip
"""In place of a text in quotes: values of other types."""
_PIECES = (
    b"\x00", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\n", b"\n\n",
    b"\t", b"\x1b[31m", b"\x0c", b"\x85", "\u2028".encode(), "\u202e".encode(), b"{", b"}", b"[",
    b"]", b"=", b":", b";", b",", b"#", b'"', b"'", b"\\", b"%s", b"../", b"*", b" ", b"/",
)  # fmt: skip

Mutation = Callable[[bytes, random.Random], bytes]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return the input with one to four damages."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(_MUTATIONS)(data, rng)[:MOST_BYTES]
    return data


def _span(data: bytes, rng: random.Random, longest: int = 64) -> tuple[int, int]:
    begin = rng.randint(0, len(data))
    length = rng.randint(1, longest if rng.random() < _MOSTLY else max(1, len(data)))
    return begin, min(len(data), begin + length)


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] if rng.random() < _MOSTLY else data[at:]


def _delete(data: bytes, rng: random.Random) -> bytes:
    begin, end = _span(data, rng)
    return data[:begin] + data[end:]


def _double(data: bytes, rng: random.Random) -> bytes:
    begin, end = _span(data, rng)
    return data[:end] + data[begin:end] * rng.randint(1, 3) + data[end:]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(_PIECES) * rng.choice((1, 1, 2, 100)) + data[at:]


def _lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.choice(("delete", "copy", "swap", "move", "join")):
        case "delete":
            del lines[at]
        case "copy":
            lines.insert(other, lines[at])
        case "swap":
            lines[at], lines[other] = lines[other], lines[at]
        case "move":
            first, last = sorted((at, other))
            lines = lines[first:last] + lines[:first] + lines[last:]
        case "join":
            lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    return b"\n".join(lines)


def _long_line(data: bytes, rng: random.Random) -> bytes:
    begin, end = _span(data, rng)
    piece = data[begin:end].replace(b"\n", b" ") or b"x"
    return data[:end] + piece * (_LONG // len(piece)) + data[end:]


def _line_ends(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\r", b"\x00\n", b" \\\n")))


def _nest(data: bytes, rng: random.Random) -> bytes:
    begin, end = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"{a=", b"}"), (b"(", b")")))
    deep = rng.choice((60, 990, _DEEP))
    at, value = _place(data, rng.choice((_NUMBER, _QUOTED, _WORD)), rng)
    return data[: at[0]] + begin * deep + value + end * deep + data[at[1] :]


def _number(data: bytes, rng: random.Random) -> bytes:
    at, _ = _place(data, _NUMBER, rng)
    return data[: at[0]] + rng.choice(_NUMBERS) + data[at[1] :]


def _value(data: bytes, rng: random.Random) -> bytes:
    at, _ = _place(data, rng.choice((_QUOTED, _NUMBER, _WORD)), rng)
    return data[: at[0]] + rng.choice(_VALUES) + data[at[1] :]


def _word(data: bytes, rng: random.Random) -> bytes:
    """Put a word of the input in the place of another one."""
    at, _ = _place(data, _WORD, rng)
    _, word = _place(data, rng.choice((_WORD, _NUMBER, _QUOTED)), rng)
    return data[: at[0]] + word + data[at[1] :]


def _place(
    data: bytes, pattern: re.Pattern[bytes], rng: random.Random
) -> tuple[tuple[int, int], bytes]:
    """Return where a match is, near a random place, and its text."""
    begin = rng.randint(0, len(data))
    match = pattern.search(data, begin) or pattern.search(data)
    return (match.span(), match[0]) if match else ((begin, begin), b"")


_MUTATIONS: tuple[Mutation, ...] = (
    _flip, _cut, _delete, _double, _insert, _lines, _lines, _long_line, _line_ends, _nest,
    _number, _number, _number, _value, _value, _word,
)  # fmt: skip
