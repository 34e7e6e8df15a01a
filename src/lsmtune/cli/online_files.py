"""The files of online tuning: the my.cnf to deploy and the my.cnf to undo it."""

from fractions import Fraction

from lsmtune.analysis.ground import stored_ground
from lsmtune.cli.exporting import RESTART, Deployment, Exported
from lsmtune.cli.own_files import my_cnf_variables, own_my_cnf
from lsmtune.knobs.types import Config
from lsmtune.report.export import LAST_NOTE
from lsmtune.report.my_cnf import export_my_cnf
from lsmtune.rescale import rescaled
from lsmtune.store.home import Home


def online_files(home: Home, name: str, kept: Config) -> Deployment:
    """Return the my.cnf with the changes that online tuning kept, and the my.cnf to undo them.

    Both have values for a full-size tree.
    """
    spec, ground = stored_ground(home, name)
    before = spec.space(ground).default()
    full_size = rescaled(spec, ground, kept, Fraction(1)).settings
    changes = {knob: full_size[knob] for knob in kept if kept[knob] != before[knob]}
    own = own_my_cnf(spec, ground.base)
    about = [f"{own.missing}; this file has only the rocksdb_ variables."] if own.missing else []
    scale = [f"UNVERIFIED at scale 1: found at scale {spec.scale}."] if spec.scale != "1" else []
    what = {
        "the changes that online tuning kept": changes,
        "values of the baseline, to undo the change": {},
    }
    files = [
        export_my_cnf(
            own.text,
            my_cnf_variables(spec, ground, settings, own.text),
            "\n".join([f"lsmtune, study {name}: {title}", *about, RESTART,
                       *(scale if settings else []), LAST_NOTE]),
        )
        for title, settings in what.items()
    ]  # fmt: skip
    return Deployment("my.cnf", *(Exported(text, own.path) for text in files))
