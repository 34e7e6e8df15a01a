"""Notes of an exported OPTIONS file: which calls change its options at run time."""

import pytest

from lsmtune.knobs.catalogue import load
from lsmtune.report.export import OptionsBase, deployment_lines

KNOBS = load("rocksdb").select("write_buffer_size,max_background_jobs")
SETTINGS = {"write_buffer_size": 8 << 20, "max_background_jobs": 4}
FAMILY = '[CFOptions "default"]\n  write_buffer_size=4194304\n'


@pytest.mark.parametrize(
    ("database", "calls", "told"),
    [
        ("", ["SetOptions"], False),
        ("[DBOptions]\n  max_background_jobs=2\n", ["SetDBOptions", "SetOptions"], False),
        ("[DBOptions]\n  max_background_jobs=4\n  bytes_per_sync=0\n", ["SetOptions"], False),
        ("[DBOptions]\n  max_background_jobs=2\n  bytes_per_sync=0\n",
         ["SetDBOptions", "SetOptions"], True),
    ],
)  # fmt: skip
def test_calls_are_those_of_the_options_that_change(
    database: str, calls: list[str], told: bool
) -> None:
    knobs = KNOBS if database else KNOBS[:1]
    lines = deployment_lines(knobs, SETTINGS, OptionsBase(database + FAMILY, "default"))
    made = [line.partition("(")[0].strip() for line in lines if line.startswith("  db->")]
    assert made == [f"db->{call}" for call in calls]
    assert any("bytes_per_sync" in line for line in lines) is told
