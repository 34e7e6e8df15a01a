"""TiKV's rules: RocksDB's, and flow control, which acts before RocksDB's own stalls."""

from lsmtune.knobs.constraints import ROCKSDB_RULES
from lsmtune.knobs.rules.base import Context, Normalisation, Rules, number
from lsmtune.knobs.tikv_toml import FLOW_CONTROL, THRESHOLDS
from lsmtune.knobs.types import Settings

_SOURCE = "tikv/src/config/mod.rs, fill_cf_opts"


def _no_later_than_flow_control(option: str, threshold: str) -> Normalisation:
    def apply(settings: Settings, _: Context) -> Settings:
        if not settings[FLOW_CONTROL]:
            return {}
        return {option: min(number(settings, option), number(settings, threshold))}

    return Normalisation(
        f"with flow control, TiKV lowers {option} to at most {threshold}",
        _SOURCE,
        (option, FLOW_CONTROL, threshold),
        apply,
    )


RULES = Rules(
    (
        *ROCKSDB_RULES.normalisations,
        *map(_no_later_than_flow_control, THRESHOLDS, THRESHOLDS.values()),
    ),
    ROCKSDB_RULES.refusals,
)
"""The rules of TiKV."""
