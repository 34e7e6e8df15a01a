"""CMA-ES comes closer with every generation, and learns names as it learns places."""

from statistics import mean

import pytest
from landscapes import base_first, make_space, position

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.registry import make_optimizer

SEEDS = (1, 2, 3, 4)
RANGES = "write_buffer_size,max_bytes_for_level_base,block_size"


def asked(space: KnobSpace, trials: int, seed: int) -> list[Observation]:
    """Trials of what is best with all knobs at 0.8 of their range, and with the second name."""

    def judge(config: Config) -> Observation:
        places = position(space, config)
        pri = 0.0 if config.get("compaction_pri", 1) == 1 else 0.1
        far = sum((x - 0.8) ** 2 for name, x in places.items() if name != "compaction_pri")
        return Observation(config, (0.1 + far + pri,), -1.0)

    optimizer, history = make_optimizer("cmaes"), base_first(space)
    for _ in range(trials):
        history.append(judge(optimizer.ask(space, history, seed)))
    return history[1:]


@pytest.mark.parametrize("knobs", [RANGES, f"{RANGES},compaction_pri"])
def test_generations_come_closer(knobs: str) -> None:
    space = make_space(knobs, memory=8)
    searches = [asked(space, 62, seed) for seed in SEEDS]
    first = mean(o.value or 0 for search in searches for o in search[8:20])
    last = mean(o.value or 0 for search in searches for o in search[-12:])
    assert last - 0.1 < 0.5 * (first - 0.1)


def test_a_name_that_does_better_is_drawn_more_often() -> None:
    space = make_space(f"{RANGES},compaction_pri", memory=8)
    searches = [asked(space, 62, seed) for seed in SEEDS]
    first = mean(o.config["compaction_pri"] == 1 for search in searches for o in search[8:20])
    last = mean(o.config["compaction_pri"] == 1 for search in searches for o in search[-12:])
    assert last > 1.5 * first


def test_without_ranges_neighbours_are_tried() -> None:
    space = make_space("compaction_pri,cache_index_and_filter_blocks")
    history = asked(space, 7, 1)
    assert len({o.config for o in history}) == 7  # the eighth is the base
