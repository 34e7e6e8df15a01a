"""Whatever the driver and its library do, a trial ends with the right status and no process."""

from pathlib import Path

import pytest

from fakes.driving import NEEDS_COMPILER, NEEDS_DRIVER, build
from fakes.outcomes import check_fault
from fakes.traces import processes_of
from lsmtune.engines.base import Outcome, Places, Watch
from lsmtune.engines.libraries.installed import Loaded, loaded_library
from lsmtune.engines.rocksdb.driver import library_engine
from lsmtune.errors import UserError
from lsmtune.knobs.types import Settings
from lsmtune.trials import Base, Protocol, Status, TrialSpec
from lsmtune.workloads import Workload

pytestmark = [NEEDS_DRIVER, NEEDS_COMPILER]
OPTIONS = '[DBOptions]\n[CFOptions "default"]\n  write_buffer_size=131072\n'
SETTINGS: Settings = {"write_buffer_size": 131072}
PROTOCOL = Protocol(probe_reads=1001, quiet_s=0.05)
"""The last of the gets compares a value that is not the first record's."""


def run(
    library: Path, folder: Path, *, options: str = OPTIONS, protocol: Protocol = PROTOCOL
) -> Outcome:
    """Run a trial of 1,500 puts of 100 bytes."""
    trial = TrialSpec(
        settings=SETTINGS, base_settings=SETTINGS,
        workload=Workload(num=1500, value_size=100),
        protocol=protocol, seed=7,
    )  # fmt: skip
    (folder / "trial").mkdir()
    base = Base(options=options, settings=SETTINGS, codecs=None)
    places = Places(folder / "trial", folder / "templates")
    engine = library_engine(loaded_library(None, str(library)))
    return engine.run(trial, base, places, Watch(lambda phase: None))


def check(outcome: Outcome, status: Status, words: str, folder: Path) -> None:
    check_fault(outcome, status, words, {"load-stdout.txt", "load-stderr.txt"})
    assert processes_of(folder) == []


def test_what_goes_well_is_measured(libraries: Path, tmp_path: Path) -> None:
    result = run(build(libraries), tmp_path).result
    assert result.status is Status.COMPLETE, result.reason
    assert result.metrics["write_amp"] == 1
    assert result.metrics["get_missing_p99_us"] > 0


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        ("REFUSES", Status.REFUSED, "it does not open"),
        ("CHANGES", Status.MISMATCH, "write_buffer_size is 65536"),
        ("DIES", Status.CRASHED, "SIGKILL"),
        ("FAILS", Status.OUT_OF_SPACE, "No space left on device"),
        ("SWAPS", Status.UNREADABLE, "differs from the one written"),
        ("LOSES", Status.UNREADABLE, "gets after the load found only"),
    ],
)
def test_a_fault_has_its_status(
    fault: str, status: Status, words: str, libraries: Path, tmp_path: Path
) -> None:
    outcome = run(build(libraries, fault), tmp_path)
    check(outcome, status, words, tmp_path)


def test_an_option_that_the_library_lacks_is_refused(libraries: Path, tmp_path: Path) -> None:
    options = OPTIONS.replace("[DBOptions]\n", "[DBOptions]\n  unheard_of=1\n")
    outcome = run(build(libraries), tmp_path, options=options)
    check(outcome, Status.REFUSED, "unheard_of", tmp_path)


@pytest.mark.parametrize(
    ("fault", "limits", "words"),
    [
        # Longer than a second, in which the driver tells that nothing happened.
        ("HANGS", {"silence_limit_s": 1.5, "wall_limit_s": 30}, "no activity"),
        ("WORKS", {"wall_limit_s": 0.5}, ""),
    ],
)
def test_a_trial_without_end_is_timed_out(
    fault: str, limits: dict[str, float], words: str, libraries: Path, tmp_path: Path
) -> None:
    protocol = PROTOCOL.model_copy(update=limits)
    outcome = run(build(libraries, fault), tmp_path, protocol=protocol)
    check(outcome, Status.TIMED_OUT, words, tmp_path)


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("not a library")
    check(run(text, tmp_path), Status.REFUSED, "text.so", tmp_path)


def test_what_to_do_with_a_file_that_is_no_library_is_told(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("not a library")
    with pytest.raises(UserError) as caught:
        library_engine(loaded_library(None, str(text))).describe(tmp_path)
    message = str(caught.value)
    assert message.count(str(text)) == 1
    assert all(word in message for word in ("librocksdb.so", "rocksdb", "`lsmtune engines`"))
    installed = Loaded(text, "11.8.1", "a source", "a hash")
    with pytest.raises(UserError, match=f"remove the folder {tmp_path}"):
        library_engine(installed).describe(tmp_path)


@pytest.mark.parametrize(("version", "words"), [("9.9.90", "9.9.9, not 9.9.90"), (None, "cache")])
def test_a_library_that_cannot_be_described_is_told(
    version: str | None, words: str, libraries: Path, tmp_path: Path
) -> None:
    """The stand-in is RocksDB 9.9.9, and its LOG does not tell the options."""
    library = build(libraries)
    engine = library_engine(Loaded(library, version, "a source", "a hash"))
    with pytest.raises(UserError, match=words) as caught:
        engine.describe(tmp_path)
    assert str(library) in str(caught.value)
