"""Facts of an engine and of a host, as studies store them."""

from lsmtune.store.records import EngineRecord, StudyHost
from lsmtune.system.host import StorageFacts
from lsmtune.trials import Base

ENGINE = EngineRecord(
    version="0", program="scripted", assertions_enabled=False, origin=None, versions={},
    base=Base(options="", settings={}),
)  # fmt: skip
OPEN_FILES = 1024
"""A limit of the process that decides which values some knobs may have."""
HOST = StudyHost(
    cpu_model="Example CPU", logical_cpus=2, usable_cpus=2, memory_bytes=8 << 30, kernel="6.1.0",
    machine="x86_64", os_name="Example Linux", boot_id="0", max_open_files=OPEN_FILES,
    storage=StorageFacts("ext4", None, 64 << 30, rotational=False),
)  # fmt: skip
