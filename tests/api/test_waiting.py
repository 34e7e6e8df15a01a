"""Two calls on one study: the second one raises, or waits."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lsmtune

pytest.importorskip("lsmsim", reason="the native core is not built here")

KEYS: dict[str, Any] = {
    "engine": "simulated", "workload": {"num": 20_000}, "trials": 2, "pairs": 0,
    "simplify": False, "repeats": 0, "study": "s",
}  # fmt: skip


class Holding(lsmtune.Observer):
    """Keeps a call in its study until it may go on."""

    def __init__(self) -> None:
        self.is_in, self.may_go = threading.Event(), threading.Event()

    def remark(self, text: str) -> None:
        if text.startswith("noise"):
            self.is_in.set()
            assert self.may_go.wait(60)


class Told(lsmtune.Observer):
    def __init__(self, waits: threading.Event | None = None) -> None:
        self.remarks: list[str] = []
        self._waits = waits or threading.Event()

    def remark(self, text: str) -> None:
        self.remarks.append(text)
        if text.startswith("waiting"):
            self._waits.set()


@pytest.fixture
def held(tmp_path: Path, own_host: Path) -> Iterator[Holding]:
    """A call that holds the study s."""
    observer = Holding()
    thread = threading.Thread(
        target=lambda: lsmtune.tune(**KEYS, home=tmp_path / "home", observer=observer)
    )
    thread.start()
    assert observer.is_in.wait(60)
    yield observer
    observer.may_go.set()
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.usefixtures("held")
def test_a_second_call_raises_at_once_and_says_who_holds_the_study(tmp_path: Path) -> None:
    with pytest.raises(lsmtune.UserError) as caught:
        lsmtune.tune(**KEYS, home=tmp_path / "home")
    holder = f"another call of this program (process {os.getpid()})"
    assert str(caught.value) == f"study 's': in use by {holder}"


@pytest.mark.usefixtures("held")
def test_a_second_call_waits_no_longer_than_allowed(tmp_path: Path) -> None:
    told = Told()
    with pytest.raises(lsmtune.UserError, match=rf"process {os.getpid()}\); waited 0\.3 s$"):
        lsmtune.tune(**KEYS, home=tmp_path / "home", wait=0.3, observer=told)
    assert [text for text in told.remarks if text.startswith("waiting: study 's' is in use by")]


@pytest.mark.parametrize("wait", [True, 60])
def test_a_second_call_waits_for_the_first_and_returns_its_result(
    held: Holding, wait: float, tmp_path: Path
) -> None:
    waits = threading.Event()
    threading.Thread(target=lambda: waits.wait(60) and held.may_go.set()).start()
    result = lsmtune.tune(**KEYS, home=tmp_path / "home", wait=wait, observer=Told(waits))
    assert sum(trial.role == "trial" for trial in result.view.trials) == 2
    first = lsmtune.result("s", home=tmp_path / "home")
    assert result.document() == first.document()


@pytest.mark.usefixtures("held")
def test_a_call_that_waits_can_be_cancelled(tmp_path: Path) -> None:
    cancel = threading.Event()
    with pytest.raises(lsmtune.Cancelled):
        lsmtune.tune(
            **KEYS, home=tmp_path / "home", wait=True, cancel=cancel, observer=Told(cancel)
        )


@pytest.mark.usefixtures("held")
def test_verify_waits_too(tmp_path: Path) -> None:
    with pytest.raises(lsmtune.UserError, match=r"waited 0\.1 s$"):
        lsmtune.verify("s", home=tmp_path / "home", wait=0.1)
