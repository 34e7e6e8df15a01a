"""Knob spaces of an experiment that compares versions: one per version."""

from dataclasses import replace

from lsmtune.errors import UserError
from lsmtune.knobs.families import with_families
from lsmtune.knobs.space import KnobSpace
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySettings


def version_spaces(spec: StudySettings, ground: Ground) -> dict[str, KnobSpace]:
    """Return the knob space of each version, around the baseline of that version.

    Empty if the study does not compare versions. UserError if a version lacks a knob that the
    experiment sets.
    """
    found = {}
    for version, base in ground.base.versions.items():
        present = with_families(base.settings, spec.workload.column_families)
        for knob in ground.catalogue.select(spec.knobs):
            if knob.name not in present:
                raise UserError(
                    f"RocksDB {version} does not have the knob {knob.name}, which the experiment "
                    "sets; leave out this version or this knob"
                )
        found[version] = knob_space(spec, replace(ground, base=base))
    return found
