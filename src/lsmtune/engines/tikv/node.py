"""The user's TiKV: takes options online or by its file and a restart, and is left as found."""

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lsmtune.engines.base import MOST_CHARACTERS, TrialFailedError
from lsmtune.engines.read_back import check_as_given
from lsmtune.engines.tikv.flow_control import drifted, is_changed, to_name
from lsmtune.engines.tikv.options import (
    as_run,
    as_told,
    cache_fits,
    edited,
    largest_cache,
    of_rocksdb,
    of_store,
    read_settings,
    spelled,
    value_of,
    with_store,
)
from lsmtune.engines.tikv.settings import Cluster
from lsmtune.engines.tikv.status import StatusServer
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.tikv_toml import Flat, parse_file
from lsmtune.knobs.types import Settings, Value
from lsmtune.system.cancelling import ProcessTimeout
from lsmtune.system.launch import run_command
from lsmtune.system.lock import study_lock
from lsmtune.system.stand_in import Marker, StandIn, state_folder
from lsmtune.system.workdir import scratch
from lsmtune.trials import Base, Status

_POLL_S = 0.05
_STARTED = "process_start_time_seconds"
_MOST_NAMED = 5
_TOLD = TypeAdapter(dict[str, Any])


class Node:
    """One TiKV. It is held, so that no other lsmtune touches it, until it is given back.

    What it was found with is left in a marker before the first change, and stays there until it
    runs with that again: the next lsmtune mends what one that was killed, or failed, has left.

    `is_settled` is whether nothing has been done since TiKV was seen to do nothing.
    """

    def __init__(self, cluster: Cluster, catalogue: Catalogue) -> None:
        self.status = StatusServer(cluster.status)
        self._cluster = cluster
        self._catalogue = catalogue
        self._knobs = {knob.name: knob for knob in catalogue.knobs}
        path = cluster.config_path
        self._file = None if path is None else StandIn(path)
        self._marker = Marker(state_folder() / f"tikv-{self.status.identity()}.json")
        self._held = ExitStack()
        self._found: Flat | None = None
        self._under: str | None = None
        self.is_settled = False

    def hold(self) -> None:
        """Keep other lsmtune processes away; what one that was killed has left is mended first.

        UserError when another works on it, or when it does not answer.
        """
        if self._found is not None:
            return
        try:
            self._lock()
            self._mend()
            self._found = of_rocksdb(self.status.config())
            self.is_settled = False  # nobody knows what was done meanwhile
        except TrialFailedError as failure:
            self._held.close()
            raise UserError(f"tikv: {failure}") from failure
        except BaseException:
            self._held.close()
            raise

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold TiKV, and give it back at the end."""
        self.hold()
        try:
            yield
        finally:
            self.give_back()

    def _lock(self) -> None:
        """Lock the address on this machine, and the file for whoever shares it."""
        locks = [Path(tempfile.gettempdir()) / f"lsmtune-tikv-{self.status.identity()}.lock"]
        if self._file is not None:
            self._file.own_text()  # one that is not there is told before a lock is made beside it
            locks.append(self._file.beside("lock"))
        for lock in locks:
            self._held.enter_context(study_lock(lock, f"TiKV at {self.status.address}"))

    def _mend(self) -> None:
        """Undo what an lsmtune has left that did not come to give TiKV back."""
        left = self._marker.read()
        if left is None:
            # The marker may be of another user, or on another machine that has this file.
            if self._file is not None and self._file.put_back():
                self._restart()
                self._tell_of_edit()
            return
        try:
            self._return_to(_TOLD.validate_json(left))
        except (TrialFailedError, ValidationError) as failure:
            reason = (
                "tikv: an earlier run of lsmtune was killed and left changed options in TiKV. "
                f"lsmtune could not restore the options from before that run: {failure}. To keep "
                f"the options that TiKV runs with now, delete {self._marker.path}"
            )
            raise UserError(reason) from failure
        self._marker.clear()
        self._tell_of_edit()

    def settings(self) -> Settings:
        """The value of every knob that it runs with."""
        return read_settings(self._catalogue, self.status.config())

    def largest_values(self) -> Settings:
        """The largest values of knobs that it accepts as it runs."""
        most = largest_cache(self.status.config())
        return {} if most is None else {"storage.block-cache.capacity": most}

    def own_store(self) -> str | None:
        """What the user's file says of the store; None where no file is told."""
        return None if self._file is None else of_store(self._file.own_text(), "tikv.config")

    def take(self, base: Base, wanted: Settings) -> dict[str, str]:
        """Bring the settings into force, and read them back in TiKV's spelling.

        UserError where they need a restart and nobody has told how. TrialFailedError where TiKV
        refuses them, runs others, or does not answer.
        """
        told = self._told_or_none() if self._cluster.restart else self.status.config()
        now = {} if told is None else read_settings(self._catalogue, told)
        changed = {n: v for n, v in wanted.items() if now.get(n) != v}
        if told is None or self._needs_file(base) or not self._can_go_online(changed, told):
            self._restart_under(base, wanted)
            changed, told = {}, self.status.config()
        changes = self._told(changed) | drifted(self._catalogue, wanted, self._found or {}, told)
        refused = None
        if changes:
            self._remember()
            refused = self._change(changes)
        return self._read_back(wanted, refused)

    def _can_go_online(self, changed: Settings, told: Flat) -> bool:
        """Whether TiKV takes the changes while it runs; without a restart it has to."""
        fits = cache_fits(changed, told) or not self._cluster.restart
        return fits and self._are_online(changed)

    def change(self, settings: Settings) -> None:
        """Change options online, on top of those that were taken, and read them back."""
        if settings:
            self._remember()
            self._read_back(settings, self._change(self._told(settings)))

    def _remember(self) -> None:
        """Leave what TiKV was found with for who comes after, before anything is changed."""
        if self._found is not None and self._marker.read() is None:
            self._marker.leave(_TOLD.dump_json(self._found).decode())

    def give_back(self) -> None:
        """Leave TiKV as it was found; LsmtuneError when it does not come to that."""
        if self._found is None:
            return
        found, self._found = self._found, None
        with self._held:
            try:
                self._return_to(found)
            except (TrialFailedError, UserError) as failure:
                reason = f"TiKV: cannot restore the options from before the study: {failure}"
                if self._marker.read() is not None:
                    reason += "; the next lsmtune command with this TiKV tries the restore again"
                raise LsmtuneError(reason) from failure
            self._marker.clear()
            self._tell_of_edit()

    def _return_to(self, found: Flat) -> None:
        """Bring it back to what it was found with, by a restart where that is needed."""
        self._under = None
        was_aside = self._file is not None and self._file.put_back()
        now = None if was_aside else self._told_or_none()
        if self._file is not None and (
            now is None or not self._are_online(self._knobs_in(self._differing(found, now)))
        ):
            self._restart()
            now = self.status.config()
        if now is not None and (changes := self._ways_back(found, self._differing(found, now))):
            self._change(changes)
        self._check_returned(found)

    def _differing(self, found: Flat, now: Flat) -> list[str]:
        """The options that run with another value than they were found with."""
        return [n for n, told in found.items() if n in now and not self._is_same(n, told, now[n])]

    def _is_same(self, name: str, told: Any, other: Any) -> bool:
        if (knob := self._knobs.get(name)) is None:
            return bool(told == other)
        return value_of(knob, told) == value_of(knob, other)

    def _ways_back(self, found: Flat, differing: Iterable[str]) -> Flat:
        """The changes that bring TiKV back: online knobs, and options that flow control changed."""
        knobs = {name: value_of(self._knobs[name], found[name]) for name in differing
                 if name in self._knobs and self._knobs[name].apply == "online"}  # fmt: skip
        known = {name: value for name, value in knobs.items() if value is not None}
        rest = {name: found[name] for name in differing if name not in self._knobs}
        return self._told(known) | {n: told for n, told in rest.items() if is_changed(n)}

    def _check_returned(self, found: Flat) -> None:
        """TrialFailedError that names what does not run as it was found."""
        now = self.status.config()
        left = [
            f"{name} is {spelled(now[name])}, but was {spelled(found[name])}"
            for name in self._differing(found, now)
        ]
        if left:
            more = f", and {len(left) - _MOST_NAMED} more" if len(left) > _MOST_NAMED else ""
            raise TrialFailedError(Status.MISMATCH, ", ".join(left[:_MOST_NAMED]) + more)

    def _tell_of_edit(self) -> None:
        """UserError where somebody has edited the file while ours stood in its place."""
        if self._file is not None and (edits := self._file.take_edits()):
            raise UserError(
                f"{self._file.path}: somebody edited this file during the study. lsmtune saved the "
                f"edited text as {edits[-1]}. The file of TiKV has the text from before the study "
                "again, and TiKV runs with this text. Copy the edits that you want to keep into "
                "the file of TiKV, restart TiKV, and run the same command again"
            )

    # --- by its file

    def _needs_file(self, base: Base) -> bool:
        """Whether the base says of the store what TiKV was not started with."""
        if self._file is None or base.given is None:
            return False
        return self._under != base.given and base.given != self.own_store()

    def _restart_under(self, base: Base, wanted: Settings) -> None:
        if self._file is None:
            raise UserError(
                "tikv: the options of this trial need a restart of TiKV; set the keys config and "
                "restart in the table [tikv]"
            )
        self._remember()
        changes = {n: v for n, v in wanted.items() if base.settings.get(n) != v}
        text = with_store(self._file.own_text(), base.given or "")
        text = edited(text, self._told(changes))
        more = to_name(self._catalogue, wanted, parse_file(text, "tikv.config"))
        self._file.write(edited(text, self._told(more)))
        self._under = base.given
        self._restart()

    def _restart(self) -> None:
        """Run the user's command; TrialFailedError when TiKV does not come up again."""
        self.is_settled = False
        began = self._start_time()
        command, limit_s = self._cluster.restart, self._cluster.start_s
        with scratch() as folder:
            output = folder / "restart.txt"
            run_told(command, output, limit_s, Status.REFUSED)
        if not self._comes(lambda: self._is_up_since(began)):
            reason = f"TiKV did not answer within {limit_s:g} s after the restart"
            raise TrialFailedError(Status.TIMED_OUT, reason)

    def is_lost(self) -> bool:
        """Whether nobody listens, and neither lsmtune nor anybody else starts it."""
        if self._cluster.restart or not self.status.is_gone():
            return False
        return not self._comes(lambda: not self.status.is_gone())

    def _comes(self, has_come: Callable[[], bool]) -> bool:
        """Wait as long as TiKV may take to start."""
        limit = time.monotonic() + self._cluster.start_s
        while not has_come():
            if time.monotonic() > limit:
                return False
            time.sleep(_POLL_S)
        return True

    def _start_time(self) -> float | None:
        try:
            return self.status.metrics().total(_STARTED)
        except (TrialFailedError, LsmtuneError):
            return None

    def _is_up_since(self, began: float | None) -> bool:
        """Whether it answers, and is not the process of before: a restart may come late."""
        try:
            self.settings()
        except TrialFailedError:
            return False
        # The metrics of a process that has just begun may come later than its options.
        return (now := self._start_time()) is not None and now != began

    # --- reading

    def _told_or_none(self) -> Flat | None:
        """What it runs with; None where it does not answer."""
        try:
            return self.status.config()
        except TrialFailedError as failure:
            if failure.status is not Status.TIMED_OUT:
                raise
            return None

    def _read_back(self, wanted: Settings, refused: str | None) -> dict[str, str]:
        """What runs; a refusal is one only where something was not changed."""
        config = self.status.config()
        actual, told = read_settings(self._catalogue, config), as_run(self._catalogue, config)
        differing = [
            f"option {name} is {told.get(name, 'missing')}, "
            f"but the trial set {self._told({name: value})[name]}"
            for name, value in wanted.items()
            if actual.get(name) != value
        ]
        if differing and refused is not None:
            reason = f"TiKV refused to change an option ({refused}): {differing[0]}"
            raise TrialFailedError(Status.REFUSED, reason)
        check_as_given("TiKV", differing)
        return {name: told[name] for name in wanted}

    def _change(self, changes: Flat) -> str | None:
        """Change options online. A TiKV that writes that into its file has not edited it."""
        ours = self._file is not None and self._file.is_ours()
        refused = self.status.change(changes)
        if self._file is not None and ours:
            self._file.adopt()
        return refused

    def _are_online(self, names: Iterable[str]) -> bool:
        return all(self._knobs[name].apply == "online" for name in names)

    def _knobs_in(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name in self._knobs]

    def _told(self, settings: Mapping[str, Value]) -> Flat:
        """The settings in the words that TiKV is told."""
        return {name: as_told(self._catalogue.knob(name), v) for name, v in settings.items()}


def run_told(command: tuple[str, ...], output: Path, limit_s: float, failed: Status) -> None:
    """Run a command that the user has told; TrialFailedError of that status when it fails."""
    try:
        code = run_command(command, output=output, limit_s=limit_s)
    except ProcessTimeout as timeout:
        raise TrialFailedError(
            Status.TIMED_OUT, f"lsmtune stopped {command[0]}: {timeout}"
        ) from timeout
    if code != 0:
        lines = output.read_text(errors="replace").split("\n")
        last = next(
            (line.strip() for line in reversed(lines) if line.strip()),
            "the command printed nothing",
        )
        words = last[:MOST_CHARACTERS]
        raise TrialFailedError(failed, f"{command[0]} ended with code {code}: {words}")
