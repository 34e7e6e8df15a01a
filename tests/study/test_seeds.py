"""Workload seeds: which runs share one, and which never do."""

import pytest

from lsmtune.trials import workload_seed


@pytest.mark.parametrize(
    ("run", "seed"),
    [
        (("trial",), 1),
        (("base", 2), 3),
        (("repeat", 2), 3),
        (("screen", 4), 1005),
        (("screen", 4, 2), 2_001_005),
        (("block", 3), 1004),
        (("pair", 0, 1), 10_007),
        (("pair", 5, 2), 20_019),
    ],
)
def test_stored_studies_get_the_same_seeds_again(run: tuple[object, ...], seed: int) -> None:
    assert workload_seed(1, *run) == seed  # type: ignore[arg-type]


def test_no_run_of_a_verification_has_a_seed_of_the_search_or_of_another_verification() -> None:
    searched = {workload_seed(7, "base", number) for number in range(100)}
    first, second = (
        {workload_seed(7, "pair", pair, verification) for pair in range(1000)}
        for verification in (1, 2)
    )
    assert not searched & first
    assert not first & second


def test_every_purpose_follows_the_seed_of_the_study() -> None:
    for purpose in ("trial", "base", "repeat", "screen", "block", "pair"):
        assert workload_seed(9, purpose, 3, 1) - workload_seed(1, purpose, 3, 1) == 8
