"""Sizes, durations and scales: what is read, what is refused, and how they are told."""

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.errors import UserError
from lsmtune.units import (
    format_bytes,
    format_duration,
    parse_duration_s,
    parse_scale,
    parse_size,
)

FAR_TOO_MUCH = "9" * 400
"""More than a float holds."""

UNIT_S = {"s": 1, "min": 60, "h": 3600}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("7b", 7),
        ("64MiB", 67_108_864),
        ("64 mib", 67_108_864),
        (" 0.5KiB ", 512),
        ("1.5 GB", 1_500_000_000),
        ("2GiB", 2_147_483_648),
        ("1TB", 10**12),
        ("1TiB", 2**40),
    ],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_size(text, "memory") == size


@pytest.mark.parametrize(
    "text",
    ["", "MiB", "0", "0.0GB", "0.2", "-1MiB", "1.5.2MB", "64MiBs", "1e6", "6 4MB", FAR_TOO_MUCH],
)
def test_what_is_no_size_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError, match=f"^memory: .*'{re.escape(text)}'; .*64MiB"):
        parse_size(text, "memory")


@given(st.text())
def test_any_text_is_a_positive_size_or_refused(text: str) -> None:
    try:
        size = parse_size(text, "memory")
    except UserError:
        return
    assert size > 0


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("20m", 1200), ("20 min", 1200), ("1.5h", 5400)]
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration_s(text, "budget") == seconds


@pytest.mark.parametrize("text", ["", "5", "s", "0s", "-1s", "5 days", "1H", FAR_TOO_MUCH + "s"])
def test_what_is_no_duration_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError, match=f"^budget: .*'{re.escape(text)}'; .*20m"):
        parse_duration_s(text, "budget")


@pytest.mark.parametrize(
    ("text", "scale"), [("1/64", Fraction(1, 64)), ("0.125", Fraction(1, 8)), (" 1 ", Fraction(1))]
)
def test_scales_are_read_exactly(text: str, scale: Fraction) -> None:
    assert parse_scale(text, "scale") == scale


@pytest.mark.parametrize(
    "text", ["", "0", "2", "65/64", "-1/64", "1/0", "inf", "nan", "a/b", "1e-999999"]
)
def test_what_is_no_scale_is_refused_by_name(text: str) -> None:
    with pytest.raises(UserError, match=f"^--scale: .*'{re.escape(text)}'; .*1/64"):
        parse_scale(text, "--scale")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (84_306_657, "80.4 MiB"),
        (8 << 20, "8 MiB"),
        (3 << 30, "3 GiB"),
        (16 << 40, "16 TiB"),
        (-2048, "-2 KiB"),
    ],
)
def test_bytes_for_people(size: int, text: str) -> None:
    assert format_bytes(size) == text


@given(st.integers(min_value=1, max_value=10**15))
def test_a_size_that_was_written_can_be_read_again(size: int) -> None:
    assert parse_size(format_bytes(size), "size") == pytest.approx(size, rel=1e-3, abs=1)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "0.25 s"),
        (4.2, "4.2 s"),
        (60, "1 min 0 s"),
        (185, "3 min 5 s"),
        (3599.7, "1 h 0 min"),
        (7440, "2 h 4 min"),
    ],
)
def test_durations_for_people(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@given(st.floats(min_value=0.01, max_value=1e6))
def test_a_duration_for_people_says_the_seconds(seconds: float) -> None:
    told = re.findall(r"([\d.]+) (s|min|h)", format_duration(seconds))
    coarse = 60 if seconds >= 3599 else 0.5 if seconds >= 59 else seconds / 100
    assert sum(float(number) * UNIT_S[unit] for number, unit in told) == pytest.approx(
        seconds, abs=coarse
    )
