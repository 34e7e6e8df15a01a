"""Sentences of the next steps of a study."""

from dataclasses import dataclass

from lsmtune.analysis.claim import Claim
from lsmtune.analysis.steps import Step, StepKind
from lsmtune.engine_traits import is_of_program
from lsmtune.report.text.words import quantity
from lsmtune.units import format_duration

_STEPS: dict[StepKind, str] = {
    "verify": "Verify trial {trial} in pairs of runs with the baseline:",
    "verify_larger": "Verify the gain at {scale} of the size, the largest step that takes at most "
    "10 min{time}:",
    "verify_full_size": "Verify the gain at full size{time}:",
    "verify_other": "Verify the next best config, trial {other}, in pairs of runs with the "
    "baseline:",
    "deploy": "Write the file to deploy:",
    "own_rate": "The rate is not yours. Replace R by your operations per second, or set "
    '`rate = "R"` in a new study:',
    "run_for_real": "Run the study with a real engine. A simulated gain is only a prediction.",
    "search_more": "To test more configs, run the same `lsmtune tune` command with a larger value "
    "of --trials.",
    "relax_constraint": "To accept trial {trial}, run `lsmtune tune` again with a limit that it "
    "keeps. The runs of this study count for the new study. Add this to the command:",
    "accept_trade": "To accept trial {trial}, run `lsmtune tune` again with a limit that it "
    "keeps. The runs of this study count for the new study. Add this to the command:",
    "keep_baseline": "Keep the baseline. Nothing was deployed, so there is nothing to undo.",
    "pick": "To use another trial of the Pareto front, replace N with the number of the trial:",
    "start": "To continue the search, run this command:",
    "start_on_hosts": "To continue the search, run this command. To run on hosts again, add "
    "--hosts as before:",
    "read_screening": "Show which knobs matter:",
    "read_sweep": "Run `lsmtune sweep` with the study file to see the result.",
    "read_upgrade": "Show the result. If runs are missing, this command runs them first:",
    "reproduce": "Compare the result with the published one. Add the flags that you used before, "
    "such as --num. If runs are missing, this command runs them first:",
    "read_online": "List the changes that lsmtune tried, and which of them it kept:",
}
_NOT_FIRST: dict[StepKind, str] = {
    "deploy": "If it is still a gain, ",
    "verify_other": "Optional: ",
    "search_more": "Optional: ",
}
"""Begin a step that follows another one."""
_VERIFY = (
    "Verify trial {trial} in pairs of runs with the baseline: in the program that has the engine, "
    "call `lsmtune.verify` after `lsmtune.tune`."
)
_START = "To continue the search, run the program that has the engine again."
_ACCEPT = (
    "To accept trial {trial}, run the program that has the engine again, with a limit that the "
    "trial keeps. The runs of this study count for the new study. Add this to the call: "
    "`limits=[{limits}]`."
)
_IN_PROGRAM: dict[StepKind, str] = {
    "start": _START,
    "start_on_hosts": _START,
    "verify": _VERIFY,
    "verify_larger": _VERIFY,
    "verify_full_size": _VERIFY,
    "verify_other": _VERIFY.replace("{trial}", "{other}"),
    "deploy": "Write the file to deploy, in the program that has the engine:",
    "own_rate": "The rate is not yours. Give your operations per second as `rate` in a new study.",
    "search_more": "To test more configs, run the program that has the engine again, with a larger "
    "value of `trials`.",
    "relax_constraint": _ACCEPT,
    "accept_trade": _ACCEPT,
}
"""Sentences for a study whose engine only a Python program has: no command can run it."""
_DECIDE = "To decide whether trial {trial} is better, verify trial {trial} in pairs of runs:"
_START_FILE = (
    "To continue the search, run the same `lsmtune tune` command again, with the same study file."
)
_LOST_STUDY = (
    "lsmtune cannot continue this comparison: the study that it belongs to was renamed, deleted or "
    "changed. To start another comparison, run `lsmtune verify STUDY --rocksdb VERSION`."
)


@dataclass(frozen=True, slots=True)
class StepText:
    """A sentence about what to do, and its command or the flags of a command, if there are any."""

    text: str
    command: str | None
    flags: str | None = None


def step_text(claim: Claim, step: Step) -> StepText:
    """Return a next step of a study in words."""
    in_program = step.kind in _IN_PROGRAM and is_of_program(claim.view.engine)
    if not in_program and step.command is None:
        if step.kind in ("start", "start_on_hosts"):
            return StepText(_START_FILE, None)
        if step.kind == "read_upgrade":
            return StepText(_LOST_STUDY, None)
    is_first = claim.steps[0] is step
    if step.kind == "keep_baseline" and not is_first:
        return StepText("Or keep the baseline.", None)
    if step.kind in ("accept_trade", "relax_constraint"):
        return _accepting(claim, step, in_program=in_program)
    if step.kind == "verify_other" and claim.nearest is not None and claim.failed:
        text = _VERIFY if in_program else _DECIDE
        return StepText(text.format(trial=claim.failed_trial), step.command)
    shown = claim.nearest or claim.alternative
    other = shown and shown.trial
    needs = [] if step.seconds is None else [f"about {format_duration(step.seconds)}"]
    needs += [] if step.peak_bytes is None else [f"{quantity(step.peak_bytes, 'bytes')} of disk"]
    time = f" ({', '.join(needs)})" if needs else ""
    text = (_IN_PROGRAM if in_program else _STEPS)[step.kind].format(
        trial=claim.trial, other=other, scale=step.scale, time=time
    )
    start = "" if is_first else _NOT_FIRST.get(step.kind, "")
    return StepText(f"{start}{text[0].lower()}{text[1:]}" if start else text, step.command)


def _accepting(claim: Claim, step: Step, *, in_program: bool) -> StepText:
    """Return how to accept a trial that breaks a limit: with a limit that it keeps."""
    first = claim.view.trades[0] if step.kind == "accept_trade" else None
    trial = claim.failed_trial if first is None else first.trial
    failed = claim.failed if first is None else (first.check,)
    # A limit that only more runs can decide needs no wider bound.
    checks = [check for check in failed if check.is_exceeded] or failed
    bounds = [f'"{check.relaxed}"' for check in checks]
    if in_program:
        return StepText(_ACCEPT.format(trial=trial, limits=", ".join(bounds)), None)
    flags = " ".join(f"--limit {bound}" for bound in bounds)
    return StepText(_STEPS[step.kind].format(trial=trial), None, flags)
