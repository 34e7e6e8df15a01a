"""A study in a thread that another thread ends."""

import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

import lsmtune
from lsmtune.store.home import Home

pytest.importorskip("lsmsim", reason="the native core is not built here")


class Cancelling(lsmtune.Observer):
    """Sets the event when the first run of the baseline begins its load."""

    def __init__(self, wish: threading.Event) -> None:
        self._wish = wish

    def running(self, spec: Any) -> Any:  # type: ignore[override]
        observer = self

        class Listener:
            def __enter__(self) -> "Listener":
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def recall(self, trials: object) -> None:
                pass

            def __call__(self, event: Any) -> None:
                if event.phase == "load":
                    threading.Timer(0.1, observer._wish.set).start()

        return Listener()


def in_thread(function: Any) -> list[Any]:
    """Call a function in a thread of its own; return its result or its error."""
    done: list[Any] = []

    def call() -> None:
        try:
            done.append(function())
        except BaseException as error:  # for the test
            done.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    return done


@pytest.mark.usefixtures("library")
def test_a_real_run_is_ended_and_the_study_goes_on(tmp_path: Path, own_host: Path) -> None:
    home, wish = tmp_path / "home", threading.Event()
    keys: dict[str, Any] = {
        "study": "s", "workload": {"name": "fillrandom", "num": 3_000_000}, "trials": 1,
        "base_runs": 1, "pairs": 0, "repeats": 0, "simplify": False, "knobs": "write_buffer_size",
    }  # fmt: skip
    before = set(psutil.Process().children(recursive=True))
    (error,) = in_thread(
        lambda: lsmtune.tune(**keys, home=home, cancel=wish, observer=Cancelling(wish))
    )
    assert isinstance(error, lsmtune.Cancelled)
    assert set(psutil.Process().children(recursive=True)) <= before
    assert list((home / "work").iterdir()) == []
    with Home(home, create=False) as opened:
        assert opened.trials(opened.study("s")) == []


def test_two_studies_run_one_after_the_other_in_a_thread(tmp_path: Path, own_host: Path) -> None:
    def service() -> list[str]:
        keys: dict[str, Any] = {"engine": "simulated", "workload": {"num": 20_000}, "trials": 2,
                                "pairs": 0, "simplify": False, "repeats": 0}  # fmt: skip
        return [
            lsmtune.tune(**keys, study=name, home=tmp_path / "home").study for name in ("a", "b")
        ]

    assert in_thread(service) == [["a", "b"]]


def test_a_set_event_runs_nothing(tmp_path: Path, own_host: Path) -> None:
    wish = threading.Event()
    wish.set()
    keys: dict[str, Any] = {"engine": "simulated", "workload": {"num": 20_000}, "study": "s"}
    with pytest.raises(lsmtune.Cancelled):
        lsmtune.tune(**keys, home=tmp_path / "home", cancel=wish)
    with Home(tmp_path / "home", create=False) as opened:
        assert opened.trials(opened.study("s")) == []
