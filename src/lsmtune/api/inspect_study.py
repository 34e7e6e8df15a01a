"""Make a study from what a store wrote."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.study import study_files, tuned_family
from lsmtune.analysis.inspect.study_load import study_rate
from lsmtune.api.inspect import check_read
from lsmtune.errors import Argument, Message, UserError
from lsmtune.metrics.families import check_not_empty
from lsmtune.system.write import Written, write_beside_older


@dataclass(frozen=True, slots=True)
class StudyOfLog:
    """A study file made from a LOG, and the file of its options with the path that it names.

    `remarks` say what to check.
    """

    study: str
    options: str
    options_path: Path
    remarks: tuple[str, ...]

    def write(self, path: Path) -> Iterator[Written]:
        """Write the study file and its options one by one; older files of these names are kept."""
        yield write_beside_older(path, self.study, "study")
        yield write_beside_older(self.options_path, self.options, "options")


def study_of(path: Path, logs: Sequence[Inspection]) -> StudyOfLog:
    """Return a study file with a workload similar to the LOG's, for `path`, and its options.

    UserError for several LOGs, or for a LOG whose column family has no data.
    """
    if len(logs) != 1:
        raise UserError(Argument("to_study"), ": allowed for one LOG only; name a single LOG")
    check_read(*logs)
    check_not_empty(
        logs[0].family_sums,
        logs[0].main_family,
        logs[0].name,
        Message("choose one with ", Argument("family", "NAME")),
    )
    options = path.with_suffix(".OPTIONS")
    files = study_files(logs[0], str(options.resolve()))
    remarks = []
    if (family := tuned_family(logs[0])) is not None:
        remarks.append(f"{path}: {family}")
    for why in dict.fromkeys(files.assumed.values()):
        keys = ", ".join(key for key, reason in files.assumed.items() if reason == why)
        remarks.append(f"{path}: check the workload: lsmtune assumed {keys}, because {why}")
    if (remark := study_rate(logs[0]).remark) is not None:
        remarks.append(f"{path}: {remark}")
    return StudyOfLog(files.study, files.options, options, tuple(remarks))
