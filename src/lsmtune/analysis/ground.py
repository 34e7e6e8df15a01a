"""The context of a stored study's knobs: its catalogue, its baseline and this host."""

from lsmtune.spec import Ground, StudySpec, catalogue_of
from lsmtune.system.host import describe_host
from lsmtune.trials import Base


def ground_of(spec: StudySpec, base: Base) -> Ground:
    """Return the context of the study's knobs on this host."""
    return Ground(catalogue_of(spec.engine, spec.workload), base, describe_host().max_open_files)
