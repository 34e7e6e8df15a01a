"""Own parameters of a workload that an engine of another package brings along."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import pytest

from lsmtune.engine_traits import ENGINES, checked_engine
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.function import function_engine
from lsmtune.errors import UserError
from lsmtune.knobs.types import Knob
from lsmtune.spec import StudySettings, make_spec
from lsmtune.workloads import WORKLOADS, Definition, Parameters, Records


class QueueParameters(Parameters):
    """Two that may not be equal."""

    order: Literal["first", "last"] = "first"
    width: int = 4
    depth: int | None = None


class Queue(Definition):
    """A workload with parameters that depend on each other."""

    name = "queue"
    what = "messages that are put and taken"
    measured = ("write",)
    own = QueueParameters

    def problems(self) -> Iterator[str]:
        """Yield that both numbers are equal."""
        yield from super().problems()
        own = self.load.own
        if isinstance(own, QueueParameters) and own.width == own.depth:
            yield f"depth: {own.depth} is the width; use another depth"


@pytest.fixture(autouse=True)
def entry(monkeypatch: pytest.MonkeyPatch) -> EngineEntry:
    made = function_engine(
        "queues", lambda *_: {}, knobs=[Knob.boolean("fast", default=False)], metrics=["read_amp"]
    )
    monkeypatch.setitem(ENGINES, "queues", replace(made, workloads=(Queue,)))
    return made


def queue(**parameters: object) -> StudySettings:
    return make_spec({"workload": {"name": "queue", **parameters}}, "study.toml")


def test_they_are_checked_with_each_other() -> None:
    assert queue(width=3, depth=4).workload.own == QueueParameters(width=3, depth=4)
    with pytest.raises(UserError, match="depth: 3 is the width"):
        queue(width=3, depth=3)
    with pytest.raises(UserError, match=r"order: .*first"):
        queue(order="next")
    with pytest.raises(UserError, match=r"width: .*integer"):
        queue(width="wide")


def test_a_parameter_that_is_not_set_is_not_part_of_the_identity() -> None:
    spec = queue()
    assert spec.engine == "queues"
    assert spec.lasting()["workload"] == {"name": "queue", "order": "first", "width": 4}
    assert spec.workload.model_dump()["depth"] is None
    assert spec.workload.told == {"name": "queue", "order": "first", "width": 4}
    assert spec.changed_since(queue(depth=9)) == ["workload"]
    assert len({queue().workload, queue(depth=9).workload, queue().workload}) == 2
    assert (
        queue(depth=9).workload.model_copy(update={"num": 2000}).own == queue(depth=9).workload.own
    )


def test_a_workload_belongs_to_its_engine() -> None:
    assert "queue" in WORKLOADS
    with pytest.raises(UserError, match=r"cannot run the workload queue; available: queues"):
        make_spec({"engine": "rocksdb", "workload": "queue"}, "")
    with pytest.raises(TypeError):
        queue().workload.definition_of(Records)
    del ENGINES["queues"]
    with pytest.raises(UserError, match="workload 'queue'"):
        queue()


def test_an_engine_needs_defaults_that_its_workload_does_not_have(entry: EngineEntry) -> None:
    for key in ("knobs", "objective"):
        rest = {name: value for name, value in entry.defaults.items() if name != key}
        with pytest.raises(ValueError, match=f"need {key}"):
            checked_engine("queues", replace(entry, defaults=rest))
