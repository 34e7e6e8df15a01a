"""Time to read texts of many kilobytes that no program writes but a damaged paste contains."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from log_texts import line

from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.errors import UserError

TIMES_LONGER = 8


def cpu_s(path: Path, text: str) -> float:
    """Return the least CPU time of three readings."""
    path.write_text(text)
    took_s = []
    for _ in range(3):
        begun = time.process_time()
        with suppress(UserError):
            inspect_path(path)
        took_s.append(time.process_time() - begun)
    return min(took_s)


def _results(count: int) -> str:
    rows = (f"fill{at} : 1.0 micros/op 1 ops/sec 1.0 seconds 1 operations;" for at in range(count))
    return "\n".join([*rows, ""])


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (lambda count: line(0, "[a" * count + " Stalling writes because "), 10_000),
        (lambda count: line(0, "[a" * count + " Increasing compaction threads because"), 10_000),
        (lambda count: line(0, "[a" * count + " compacted to: "), 10_000),
        (_results, 500),
        (lambda count: f"L0 3/0 1.00 GB 0.5\n{'-' * count}x\n", 5000),
    ],
    ids=["brackets in a warning", "brackets in a remark",
         "brackets in a summary", "many results", "dashes below a table"],
)  # fmt: skip
def test_the_time_of_a_text_grows_with_its_length(
    text: Callable[[int], str], short: int, tmp_path: Path
) -> None:
    path = tmp_path / "LOG"
    short_s = cpu_s(path, text(short))
    # A time that grows with the square of the length is 64 times as long.
    assert cpu_s(path, text(TIMES_LONGER * short)) < 4 * TIMES_LONGER * short_s


def test_a_line_of_many_summaries_takes_about_as_long_as_other_lines(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    words = "compacted to: files[1 "
    other_s = cpu_s(path, f"{line(0, words.upper() * 5000)}\n" * 5)
    assert cpu_s(path, f"{line(0, words * 5000)}\n" * 5) < 4 * other_s


SIZES = ("write_buffer_size", "max_bytes_for_level_base", "min_write_buffer_number_to_merge",
         "level0_file_num_compaction_trigger")  # fmt: skip


def test_families_that_leave_options_out_take_about_as_long(tmp_path: Path) -> None:
    def families(*options: str) -> str:
        lines = "".join(f"  {option}=4\n" for option in options)
        return "".join(f'[CFOptions "f{at}"]\n{lines}' for at in range(200))

    path = tmp_path / "OPTIONS"
    given_s = cpu_s(path, families(*SIZES))
    # RocksDB's defaults are used. Looking one up in the table of all versions takes milliseconds.
    assert cpu_s(path, families("ttl")) < 4 * given_s
