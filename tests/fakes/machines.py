"""What `lsmtune doctor --calibrate` would have kept of this host."""

import json
from pathlib import Path

from lsmtune.simulator import Machine
from lsmtune.simulator.native import default_constants
from lsmtune.system.host import describe_host


def keep_machine(path: Path, **changes: object) -> Path:
    """Write the machine with the usual constants, but for these changes."""
    host = describe_host()
    machine = Machine(
        cpu_model=host.cpu_model, logical_cpus=host.logical_cpus, calibrated_at="2026-01-01",
        constants=default_constants(),
    )  # fmt: skip
    path.write_text(json.dumps(machine.model_dump() | changes))
    return path
