"""Runs the tasks of one study on hosts, one at a time on each, and keeps what they give."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from lsmtune.errors import LsmtuneError
from lsmtune.hosts.commander import Event as HostEvent
from lsmtune.hosts.commander import Finished, Hosts, Lost
from lsmtune.hosts.connect import own_name
from lsmtune.hosts.task import HostInfo, HostResult, HostTask
from lsmtune.progress import Event
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.store.open_runs import OpenRun, run_of
from lsmtune.store.records import Asked, NewTrial, StoredStudy, now_text
from lsmtune.study.host_jobs import (
    MOST_FAILURES,
    NOBODY_S,
    Host,
    Job,
    State,
    UnderWay,
    is_stored,
    job_of,
    lost_run,
    name_of,
    new_run,
    news_of_wait,
    other_engine,
    rerun_of,
)
from lsmtune.study.runner import (
    REPEATS,
    Derived,
    Done,
    Keep,
    Listener,
    NextJob,
    ignore,
    judged,
    whole,
)
from lsmtune.study.standing import Standing
from lsmtune.system.cancelling import check_cancelled
from lsmtune.system.workdir import scratch
from lsmtune.system.write import write_whole
from lsmtune.trials import Base, Role, Status

_WAIT_S = 0.5
_LOOK_S = 1.0
"""How often the state of the hosts is asked for while one is free or missing, in seconds."""
_LOOK_BUSY_S = 5.0
_LOOK_SHARE = 20.0
"""A look at the hosts pauses for this many times as long as it takes: many hosts take longer."""


class HostsPool:
    """A pool whose runs go to hosts.

    Each attempt is a row of the store before its host gets it, so a call that was killed finds it
    again. The first result of a run that is stored counts. One that comes later is kept
    next to its evidence: a host that was cut off may measure what another one measured meanwhile.
    """

    def __init__(
        self,
        hosts: Hosts,
        home: Home,
        study: StoredStudy,
        *,
        spec: StudySettings,
        base: Base,
        listener: Listener,
        keep: Keep,
        derived: Derived,
        accept_noise: bool,
        times_matter: bool,
        standings: Callable[[], Mapping[str, Standing]],
        tell: Callable[[str], None],
    ) -> None:
        """Use the hosts for a study. If `times_matter`, each host measures its own baseline.

        `standings` says which hosts are set aside by what they have measured. `tell` gets what the
        study waits for.
        """
        self._hosts = hosts
        self._home = home
        self._study = study
        # Studies of other homes use the same hosts.
        self._name = f"{study.name} {study.created_at}"
        self._settings = spec.model_dump(mode="json")
        self._base = base
        self._listener = listener
        self._keep = keep
        self._derived = derived
        self._accept_noise = accept_noise
        self._times_matter = times_matter
        self._standings = standings
        self._tell = tell
        self._state = State()
        self._open: dict[str, OpenRun] = {}
        self._is_resumed = False

    def feed(self, next_job: NextJob, done: Done = ignore, most_repeats: int = REPEATS) -> None:
        """Run what `next_job` returns on all hosts; first end what an earlier call left.

        LsmtuneError if no host can be used, or if the scheduler is gone.
        """
        if not self._is_resumed:
            self._is_resumed = True
            self._resume()
            self._feed(lambda host, under_way: (), ignore, REPEATS)
        self._feed(next_job, done, most_repeats)

    def _feed(self, next_job: NextJob, done: Done, most_repeats: int) -> None:
        state = self._state
        state.idle.clear()
        while True:
            check_cancelled()
            self._look(done)
            self._hand_out(next_job, most_repeats)
            if state.idle and not state.under_way and not state.waiting:
                return
            self._check_somebody()
            for event in self._hosts.wait(_WAIT_S):
                self._take(event, done)
                self._hand_out(next_job, most_repeats)  # its host must not wait for the others

    # What an earlier call left.

    def _resume(self) -> None:
        """Read the attempts of an earlier call; their results come from the hosts.

        Those of the search run again if they are lost. Other runs are asked for again.
        """
        self._open = {run.attempt: run for run in self._home.open_runs(self._study)}
        # A call may have been killed between a result and the end of its row.
        stored = self._home.trials(self._study) if self._open else []
        for row in list(self._open.values()):
            if is_stored(row, stored):
                self._forget(row.attempt)
        self._look(ignore)
        running = {run_of(attempt) for attempt in self._state.under_way}
        again: dict[str, OpenRun] = {}
        for attempt, row in list(self._open.items()):
            if row.role is not Role.TRIAL and attempt not in self._state.under_way:
                self._forget(attempt)
            elif row.run not in running:
                again[row.run] = row
        self._state.waiting.extend(job_of(row) for row in again.values())

    def _forget(self, attempt: str) -> None:
        """Remove an attempt whose result would not count."""
        del self._open[attempt]
        self._home.remove_open_run(attempt)

    # Which hosts there are, and what they run.

    def _look(self, done: Done) -> None:
        """Ask the hosts for their state, not too often; take results that wait on them."""
        state, now_s = self._state, time.monotonic()
        is_busy = bool(state.hosts) and set(state.hosts) <= {
            one.host for one in state.under_way.values()
        }
        pause_s = max(_LOOK_BUSY_S if is_busy else _LOOK_S, _LOOK_SHARE * state.looks_s)
        if now_s - state.looked_s < pause_s:
            return
        state.looked_s = now_s
        infos = self._hosts.hosts()
        kept = {attempt for info in infos for attempt in info.kept.get(self._name, ())}
        if kept - state.under_way.keys() - state.finished:  # nobody waits for them
            for result in self._hosts.collect(self._name):
                self._collected(result, done)
            infos = self._hosts.hosts()
        state.looks_s = time.monotonic() - now_s
        before, state.hosts = state.hosts, {}
        for info in infos:
            if info.problem is None:
                name = name_of(info)
                state.hosts[name] = replace(before.get(name, Host(info)), info=info)
        # The runs of a pair belong together, so a new pair replaces one whose host is gone.
        state.waiting = [job for job in state.waiting if job.only in (None, *state.hosts)]
        for name, host in state.hosts.items():
            self._rejoin(name, host.info)

    def _rejoin(self, name: str, info: HostInfo) -> None:
        """Wait for an attempt of this study that a host runs although nobody waits for it.

        One whose run is stored is ended.
        """
        state, attempt = self._state, info.running
        if attempt is None or info.study != self._name:
            return
        if attempt in state.under_way or attempt in state.over:
            return
        self._hosts.rejoin(info.address, attempt, self._name)
        row = self._open.get(attempt)
        if row is None:
            self._hosts.end(attempt)
            state.over.add(attempt)
            return
        state.waiting = [job for job in state.waiting if job.run != row.run]
        state.under_way[attempt] = UnderWay(job_of(row), name)
        self._home.update_lost_run(attempt, now_text())
        self._listener(Event(job_of(row).task, "run", host=name))

    def _check_somebody(self) -> None:
        """Raise LsmtuneError if all hosts are set aside, or none was there for a long time."""
        state, now_s = self._state, time.monotonic()
        if state.hosts or state.under_way:
            state.seen_s = now_s
        if not state.under_way and state.hosts:
            problems = [one.why for one in state.hosts.values() if one.is_set_aside]
            if len(problems) == len(state.hosts):
                raise LsmtuneError(f"no host can run the study: {problems[0]}")
        if now_s - state.seen_s > NOBODY_S:
            raise LsmtuneError(
                f"no host was connected for {NOBODY_S / 60:.0f} minutes; start `lsmtune worker` "
                "on the hosts, then run the same command again: results are kept on the hosts"
            )
        if (news := news_of_wait(state, now_s)) is not None:
            self._tell(news)

    # Giving out.

    def _hand_out(self, next_job: NextJob, most_repeats: int) -> None:
        """Give each free host the next tasks, if there are some for it."""
        state, standings = self._state, self._standings()
        taken = {one.host for one in state.under_way.values()}
        for name, host in state.hosts.items():
            if name in standings and standings[name].is_set_aside:
                host.failures, host.why = MOST_FAILURES, f"host {name}: {standings[name].why}"
            running = host.info.running
            is_busy = running is not None and running not in state.finished
            if name in taken or host.is_set_aside or is_busy:
                continue
            job = self._waiting_for(name)
            if job is None and name not in state.idle:
                job = self._asked(name, next_job, most_repeats)
            if job is None:
                state.idle.add(name)
            else:
                self._start(name, host.info, job)

    def _waiting_for(self, name: str) -> Job | None:
        """Take the first job that waits for this host or for any."""
        state = self._state
        others = [n for n, host in state.hosts.items() if n != name and not host.is_set_aside]
        for job in state.waiting:
            if job.only in (None, name) and (job.avoid != name or not others):
                state.waiting.remove(job)
                return job
        return None

    def _asked(self, name: str, next_job: NextJob, most_repeats: int) -> Job | None:
        state = self._state
        jobs = [one.job for one in state.under_way.values()] + state.waiting
        tasks = [task for job in {job.run: job for job in jobs}.values() for task in job.tasks]
        pending = tuple(task.config for task in tasks if task.role is Role.TRIAL)
        asked = Asked(self._home.count_runs(self._study), pending)
        found = next_job(name if self._times_matter else None, tasks)
        if not found:
            return None
        repeats = min(REPEATS, most_repeats)
        return Job(tuple(found), new_run(), asked, repeats, repeats)

    def _start(self, name: str, info: HostInfo, job: Job) -> None:
        """Keep the attempt as a row, then give it to the host."""
        number = sum(row.run == job.run for row in self._open.values())
        attempt, task = f"{job.run}.{number}", job.task
        row = OpenRun(
            attempt, name, task.role, task.config, task.spec, rerun_of(job), job.asked, now_text()
        )
        self._home.add_open_run(self._study, row)
        self._open[attempt] = row
        self._state.under_way[attempt] = UnderWay(job, name)
        self._hosts.start(
            info.address,
            HostTask(
                attempt=attempt,
                study=self._name,
                engine=self._settings,
                base=self._base,
                base_settings=task.spec.base_settings,
                spec=task.spec,
                prune=task.prune,
                commander=own_name(),
                title=f"study {self._study.name}: {task.title}",
            ),
        )
        self._listener(Event(task, "run", host=name))

    # Taking results.

    def _take(self, event: HostEvent, done: Done) -> None:
        state = self._state
        under_way = state.under_way.pop(event.attempt, None)
        state.idle.clear()
        if isinstance(event, Finished):
            state.finished.add(event.attempt)
            if under_way is not None and under_way.host in state.hosts:
                state.hosts[under_way.host].failures = 0
            self._collected(event.result, done, under_way)
            return
        if under_way is None:
            return
        job, host = under_way.job, under_way.host
        self._home.add_lost_run(self._study, lost_run(self._open[event.attempt], event.reason))
        why = f"lost, host {host} left; it runs again" if event.left else event.reason
        self._listener(Event(job.task, f"{job.task.title}: {why}", host=host))
        self._failed(event, host)
        self._again(event.attempt, job, host)

    def _again(self, attempt: str, job: Job, host: str) -> None:
        """Let a job wait for another host, unless it belongs to this one or runs elsewhere."""
        state = self._state
        if any(one.job.run == job.run for one in state.under_way.values()):
            return  # another host runs it already
        if job.is_bound or (job.task.role is Role.BASE and self._times_matter):
            # Another host must not run it, so it is asked for again if it is still needed.
            self._forget(attempt)
            return
        state.waiting.append(replace(job, avoid=host))

    def _failed(self, event: Lost, name: str) -> None:
        """Note that a host lost an attempt; one that left may come back."""
        state = self._state
        state.looked_s = -NOBODY_S  # its address is another one when it comes back
        if event.left:
            state.hosts.pop(name, None)
            return
        state.over.add(event.attempt)
        if (host := state.hosts.get(name)) is not None:
            host.failures, host.why = host.failures + 1, event.reason

    def _collected(self, found: HostResult, done: Done, under_way: UnderWay | None = None) -> None:
        """Store the result of an attempt, unless its run has one already; go on with its job."""
        row = self._open.get(found.attempt)
        self._state.over.add(found.attempt)
        if row is None:
            self._keep_late(found)
            self._hosts.confirm([found.attempt])
            return
        self._state.idle.clear()
        job, name = (under_way.job, under_way.host) if under_way else (job_of(row), row.host)
        task, state = job.task, self._state
        if (why := other_engine(self._study, found, name)) is not None:
            self._hosts.confirm([found.attempt])
            self._home.add_lost_run(self._study, lost_run(row, why))
            self._listener(Event(task, f"{why}; it gets no more runs", host=name))
            if name in state.hosts:
                state.hosts[name].failures, state.hosts[name].why = MOST_FAILURES, why
            self._again(found.attempt, job, name)
            return
        result = judged(
            whole(found.result, self._derived(task, found.result.metrics)),
            found.clock_jump_s,
            job.repeats > 0,
            accept_noise=self._accept_noise,
        )
        trial = NewTrial(
            task.role, task.config, task.spec, result, found.started_at, found.duration_s,
            task.verification_id, task.pair, name, found.attempt, row.asked,
        )  # fmt: skip
        with scratch() as folder:
            self._keep(trial, found.write_evidence(folder))
        self._hosts.confirm([found.attempt])
        self._end_run(row.run)
        self._listener(Event(task, "done", result, found.duration_s, name))
        if result.status is Status.DISTURBED:
            only = name if job.is_bound else None
            again = replace(job, run=new_run(), repeats=job.repeats - 1, only=only)
            state.waiting.insert(0, again)
            return
        done(task, result)
        if rest := job.tasks[1:]:
            following = replace(job, tasks=rest, run=new_run(), repeats=job.most_repeats)
            state.waiting.insert(0, replace(following, only=name))

    def _keep_late(self, found: HostResult) -> None:
        """Keep a result that does not count with the evidence of the trial that counts, if any."""
        for trial in self._home.trials(self._study):
            run, is_same = run_of(found.attempt), trial.attempt == found.attempt
            if trial.attempt is None or is_same or run_of(trial.attempt) != run:
                continue
            folder = self._home.evidence / trial.evidence / f"late-{found.attempt}"
            folder.mkdir(exist_ok=True)
            found.write_evidence(folder)
            write_whole(folder / "result.json", found.model_dump_json())

    def _end_run(self, run: str) -> None:
        """Remove all attempts of a run that has a result, and end those that still run."""
        state = self._state
        for attempt in [row.attempt for row in self._open.values() if row.run == run]:
            self._forget(attempt)
        state.waiting = [job for job in state.waiting if job.run != run]
        for attempt in [name for name in state.under_way if run_of(name) == run]:
            self._hosts.end(attempt)
            state.over.add(attempt)
            del state.under_way[attempt]
