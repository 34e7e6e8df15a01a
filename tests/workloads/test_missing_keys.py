"""Gets of missing keys in a mix."""

import pytest
from pydantic import ValidationError

from lsmtune.errors import UserError
from lsmtune.spec import make_spec
from lsmtune.workloads import Records, Workload

SHARES = {"get": 0.5, "get_missing": 0.25, "put": 0.25}


def test_a_mix_without_them_is_stored_as_before() -> None:
    assert Workload(name="mix").model_dump()["mix"] == {"get": 0.5, "put": 0.5, "scan": 0.0}
    stored = Workload(name="mix", mix=SHARES)
    assert Workload.model_validate_json(stored.model_dump_json()) == stored


def test_they_count_for_the_sum_of_the_shares() -> None:
    with pytest.raises(ValidationError, match=r"get_missing is 1\.25"):
        Workload(name="mix", mix={"get": 1.0, "get_missing": 0.25})


def test_they_have_clients_of_their_own() -> None:
    load = Workload(name="mix", num=1000, mix=SHARES)
    assert load.definition.measured_kinds == ("get", "write", "get_missing")
    main, missing = load.definition_of(Records).clients(3)
    assert (main["operations"], missing["operations"], missing["missing"]) == (750, 250, True)
    (only,) = Workload(name="mix", mix={"get_missing": 1.0}).definition_of(Records).clients(3)
    assert only["missing"]


def test_db_bench_refuses_them_and_names_what_can_send_them() -> None:
    given = {"workload": {"name": "mix", "mix": SHARES}}
    for program in ({}, {"program": "db_bench"}):
        with pytest.raises(UserError, match=r"get_missing: db_bench .*driver .*rocksdb"):
            make_spec({**given, **program}, "x")
    assert make_spec({**given, "rocksdb": "11.8.1"}, "x").workload.definition.read_shares == {
        "get": 0.5, "get_missing": 0.25,
    }  # fmt: skip
