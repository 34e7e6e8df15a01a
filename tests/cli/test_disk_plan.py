"""The disk space that is planned before the first run."""

from lsmtune.engines.templates import MOST_TEMPLATES
from lsmtune.spec import make_spec
from lsmtune.study.host_checks import disk_bytes


def test_the_planned_disk_space_holds_all_template_databases() -> None:
    spec = make_spec({"workload": "readrandom"}, "test")
    assert spec.workload.definition.prepared
    assert disk_bytes(spec) > MOST_TEMPLATES * spec.workload.user_bytes
