"""Driver one: archives to page facts in processes of this machine. A worker that dies takes only its task with it."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from siteglass.ingest.tasks import FailedArchive, Plan, Summary, TaskSummary, bound_memory, run_task, sweep

MAX_TRIES = 4
TASKS_PER_WORKER = 50
TASK_TIMEOUT_S = 3_600.0
STOP_TIMEOUT_S = 5.0
# How often a worker says how far it is.
REPORT_INTERVAL_S = 0.5
# Forked, but not from here: a worker starts without the threads, locks and files of its parent.
_SERVER = multiprocessing.get_context("forkserver")


@dataclass(slots=True)
class _Task:
    place: int
    archive: Path
    tries: int = 0


@dataclass(slots=True)
class _Worker:
    """A process that runs one task after the other, and is replaced after some, so that nothing piles up in it."""

    process: ForkServerProcess
    pipe: Connection
    task: _Task | None = None
    ends_at: float = 0.0
    begun: int = 0
    read_bytes: int = 0
    """Of the archive that it is at work on."""

    def give(self, task: _Task, timeout_s: float) -> None:
        task.tries += 1
        self.task, self.ends_at = task, time.monotonic() + timeout_s
        self.begun += 1
        self.read_bytes = 0
        self.pipe.send(str(task.archive))

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join(STOP_TIMEOUT_S)
        self.process.close()


def run_tasks(
    archives: Sequence[Path],
    plan: Plan,
    workers: int,
    progress: Callable[[int], None] = lambda _bytes: None,
    *,
    task_timeout_s: float = TASK_TIMEOUT_S,
    tasks_per_worker: int = TASKS_PER_WORKER,
) -> Summary:
    """The facts of all archives; `progress` hears how many of their bytes are read, see `bytes_of`. Those done before
    are not read again.

    A task that fails, or whose worker dies or takes too long, is tried again up to MAX_TRIES times, then parked.
    """
    waiting = deque(_Task(place, archive) for place, archive in enumerate(archives))
    sizes = [bytes_of([archive]) for archive in archives]
    done: dict[int, TaskSummary] = {}
    parked: dict[int, FailedArchive] = {}
    running: list[_Worker] = []
    try:
        while waiting or any(worker.task for worker in running):
            running = _renewed(running, plan, tasks_per_worker)
            while waiting and len([worker for worker in running if worker.task]) < workers:
                idle = next((worker for worker in running if not worker.task), None) or _start(plan, running)
                idle.give(waiting.popleft(), task_timeout_s)
            for worker, answer in _answers(running):
                task, worker.task = worker.task, None
                assert task is not None  # noqa: S101 - only those at work are waited for
                if isinstance(answer, TaskSummary):
                    done[task.place] = answer
                elif task.tries < MAX_TRIES:
                    waiting.append(task)
                else:
                    parked[task.place] = FailedArchive(archive=task.archive.name, reason=answer)
            ended = sum(sizes[place] for place in (*done, *parked))
            progress(ended + sum(worker.read_bytes for worker in running if worker.task))
    finally:
        _renewed(running, plan, 0)
    return Summary(tasks=[done[place] for place in sorted(done)], parked=[parked[place] for place in sorted(parked)])


def bytes_of(archives: Sequence[Path]) -> int:
    """The size of all archives together; one that cannot be opened counts as nothing."""
    return sum(path.stat().st_size for path in archives if path.exists())


def _start(plan: Plan, running: list[_Worker]) -> _Worker:
    _SERVER.set_forkserver_preload(["siteglass.ingest.tasks"])
    ours, theirs = _SERVER.Pipe()
    process = _SERVER.Process(target=_work, args=(theirs, plan), daemon=True)
    process.start()
    theirs.close()  # so that reading ends when the worker does
    worker = _Worker(process, ours)
    running.append(worker)
    return worker


def _renewed(running: list[_Worker], plan: Plan, tasks_per_worker: int) -> list[_Worker]:
    """The workers that can continue; the others are stopped, and their unfinished files are removed."""
    kept = [
        worker
        for worker in running
        if tasks_per_worker and (worker.task or (worker.process.is_alive() and worker.begun < tasks_per_worker))
    ]
    for worker in running:
        if worker not in kept:
            pid = worker.process.pid
            worker.stop()
            sweep(plan.folder, pid)
    return kept


def _answers(running: list[_Worker]) -> list[tuple[_Worker, TaskSummary | str]]:
    """What workers have done: a summary, or why there is none. Empty if one only says how far it is."""
    busy = {worker.pipe: worker for worker in running if worker.task}
    first_end = min(worker.ends_at for worker in busy.values())
    ready = wait(list(busy), timeout=max(0.0, first_end - time.monotonic()))
    answers: list[tuple[_Worker, TaskSummary | str]] = []
    for pipe, worker in busy.items():
        if pipe in ready:
            answer = _received(worker)
            if isinstance(answer, int):
                worker.read_bytes = answer
            else:
                answers.append((worker, answer))
        elif worker.ends_at <= time.monotonic():
            worker.process.kill()
            worker.process.join(STOP_TIMEOUT_S)
            answers.append((worker, "the task took too long"))
    return answers


def _received(worker: _Worker) -> TaskSummary | str | int:
    try:
        answer: TaskSummary | str | int = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join(STOP_TIMEOUT_S)
        return f"the worker died with {worker.process.exitcode}"
    return answer


def _work(pipe: Connection, plan: Plan) -> None:
    """The life of a worker: it ends when nobody is at the other end any more."""
    bound_memory(plan.max_worker_bytes)
    while True:
        try:
            archive = Path(pipe.recv())
        except (EOFError, OSError):
            return
        try:
            answer: TaskSummary | str = run_task(archive, plan, on_read=_reporter(pipe))
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        pipe.send(answer)


def _reporter(pipe: Connection) -> Callable[[int], None]:
    """Says how far a task is, not at every record."""
    next_at = time.monotonic() + REPORT_INTERVAL_S

    def report(read_bytes: int) -> None:
        nonlocal next_at
        if time.monotonic() >= next_at:
            pipe.send(read_bytes)
            next_at = time.monotonic() + REPORT_INTERVAL_S

    return report
