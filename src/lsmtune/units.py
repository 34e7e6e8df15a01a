"""Functions that parse and format sizes, durations, scales and versions."""

import re
from contextlib import suppress
from fractions import Fraction
from math import isfinite

from lsmtune.errors import Argument, UserError

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
TIB = 1 << 40

_SIZE_FACTORS = {
    "": 1, "b": 1,
    "kib": KIB, "mib": MIB, "gib": GIB, "tib": TIB,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
}  # fmt: skip
_LARGE_EXPONENT = re.compile(r"[eE][+-]?[\d_]{3}")
"""A fraction with such an exponent has as many digits as the exponent says."""
_VERSION = re.compile(r"[0-9]+(\.[0-9]+){2,3}")
VERSION_FORM = (
    "write three or four numbers, such as 11.8.1; `lsmtune engines` lists the installed versions"
)
"""What a text that is not a version should be."""
_MOST_PERCENT, _MOST_RATE = 100.0, 1e9
"""Bounds of a rate: a share of what the baseline can take, and operations per second."""
_DURATION_FACTORS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_size(text: str, what: str) -> int:
    """Return the bytes of a text such as `64MiB`, `1.5 GB` or `4096`; errors name `what`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    factor = _SIZE_FACTORS.get(match[2].lower()) if match else None
    size = float(match[1]) * factor if match and factor else 0.0
    if not isfinite(size) or round(size) == 0:
        raise UserError(what, f": invalid size {text!r}; use e.g. 64MiB or 1.5GB")
    return round(size)


def parse_duration_s(text: str, what: str) -> float:
    """Return the seconds of a text such as `90s`, `20m` or `1.5h`; errors name `what`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h)\s*", text)
    seconds = float(match[1]) * _DURATION_FACTORS[match[2]] if match else 0.0
    if not isfinite(seconds) or seconds == 0:
        raise UserError(what, f": invalid duration {text!r}; use e.g. 90s, 20m or 1.5h")
    return seconds


def parse_scale(text: str, what: str) -> Fraction:
    """Return the scale, above 0 and at most 1, of `1/64`, `0.125` or `1`; errors name `what`."""
    scale = Fraction(0)
    if not _LARGE_EXPONENT.search(text):
        with suppress(ValueError, ZeroDivisionError):
            scale = Fraction(text.strip())
    if not 0 < scale <= 1:
        raise UserError(what, f": invalid scale {text!r}; use e.g. 1/64, 1/8 or 1")
    return scale


def parse_rate(text: str, what: str | Argument) -> tuple[float, bool]:
    """Return a rate and whether it is a share: `50%` is (0.5, True), `5000` is (5000.0, False)."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    number = float(match[1]) if match else 0.0
    is_share = match is not None and match[2] == "%"
    if not 0 < number <= (_MOST_PERCENT if is_share else _MOST_RATE):
        raise UserError(
            what,
            f": invalid rate {text!r}; use a share of what the baseline can take, e.g. 50%, or a "
            "number of operations per second, e.g. 5000",
        )
    return (number / 100 if is_share else number), is_share


def is_version(text: str) -> bool:
    """Return whether the text is a version of RocksDB: three or four numbers, such as 11.8.1."""
    return _VERSION.fullmatch(text) is not None


def format_bytes(size: float) -> str:
    """Return a readable size: `8 MiB`, `80.4 MiB`, `512 B`."""
    for factor, name in ((TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if abs(size) >= factor:
            return f"{size / factor:.4g} {name}"
    return f"{size:.4g} B"


def format_duration(seconds: float) -> str:
    """Return a readable duration: `4.2 s`, `3 min 5 s`, `2 h 4 min`."""
    if seconds < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
