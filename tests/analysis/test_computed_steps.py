"""First steps with values: from the value that the text has to the one to try."""

import pytest

from lsmtune.analysis.inspect.computed_steps import Change, computed

JOBS = "raise max_background_jobs to 4; if it is 4 or more, double it"


@pytest.mark.parametrize(
    ("step", "current", "after", "way"),
    [
        (JOBS, "2", "4", "raise"),
        (JOBS, "6", "12", "raise"),
        ("raise max_background_jobs to 4; if it is 4 or more, add 2", "5", "7", "raise"),
        ("raise max_background_jobs to at least 64 MiB, or double it if larger", "1048576",
         "67108864", "raise"),
        ("double max_background_jobs", "3", "6", "raise"),
        ("halve max_background_jobs", "9", "4", "lower"),
        ("set max_background_jobs to -1", "500", "-1", "lower"),
        ("lower max_background_jobs to 4", "12", "4", "lower"),
        ("set max_background_jobs to false", "1", "false", "set"),
        ("set compression to LZ4", "kZSTD", "LZ4", "set"),
    ],
)  # fmt: skip
def test_value_is_computed_from_the_present_one(
    step: str, current: str, after: str, way: str
) -> None:
    name = "compression" if "compression" in step else "max_background_jobs"
    text, change = computed(step, {name: current})
    assert change is not None
    before = "true" if current == "1" and way == "set" else current
    assert change == Change(name, way, before, after)
    assert f"{name} from" in text
    assert "if it is" not in text


@pytest.mark.parametrize(
    ("step", "current"),
    [
        (JOBS, {}),
        (JOBS, {"max_background_jobs": "many"}),
        ("double db_write_buffer_size", {"db_write_buffer_size": "0"}),
        ("lower max_background_jobs to 4", {"max_background_jobs": "4"}),
        ("release snapshots sooner", {"max_background_jobs": "4"}),
    ],
)
def test_step_without_a_known_value_stays_general(step: str, current: dict[str, str]) -> None:
    assert computed(step, current) == (step, None)


def test_sizes_are_readable_and_the_rest_of_the_step_stays() -> None:
    step = "raise write_buffer_size to at least 64 MiB, or double it if larger"
    text, _ = computed(step, {"write_buffer_size": str(32 << 20)})
    assert text == "raise write_buffer_size from 32 MiB to 64 MiB"
    text, _ = computed("double write_buffer_size and max_bytes_for_level_base",
                       {"write_buffer_size": str(64 << 20)})  # fmt: skip
    raised = "raise write_buffer_size from 64 MiB to 128 MiB"
    assert text == f"{raised}, and double max_bytes_for_level_base"
