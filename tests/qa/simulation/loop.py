"""Event loops with a common clock: time passes only when none of them has anything to do.

Each loop is a process. Its threads are simulated: a function of a thread runs as a whole, at one
moment between its call and its result.
"""

from __future__ import annotations

import asyncio
import ctypes
import random
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

#: A call in a thread.
Call = Callable[[], Any]


@contextmanager
def in_thread() -> Iterator[None]:
    """Be in a thread for the block: without a running event loop."""
    before = events._get_running_loop()
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(before)


#: Tasks of killed processes. They are never freed, not even at the exit of the interpreter, or
#: their last blocks would run.
_killed: list[asyncio.Task[Any]] = []
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_killed))


class Clock:
    """The time of all loops, in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def select(self, timeout: float | None) -> list[Any]:
        """Wait for no socket: what a loop asks its selector for. `Simulation` lets time pass."""
        return []

    def close(self) -> None: ...


class _Thread:
    """The workers of one executor: each does one call after the other."""

    def __init__(self, workers: int) -> None:
        self.free = workers
        self.waiting: deque[tuple[asyncio.Future[Any], Call]] = deque()


class SimulatedLoop(asyncio.BaseEventLoop):
    """The event loop of one process; callbacks run in their order."""

    def __init__(self, clock: Clock, draw: random.Random, do: Callable[[str, Call], Any]) -> None:
        """Run a call in a thread of an executor with some name by `do`, which may refuse it."""
        super().__init__()
        self._selector = self.clock = clock
        self._clock_resolution = 1e-9
        self._draw = draw
        self._do = do
        self._threads: dict[str, _Thread] = {}
        #: Seconds that a call in a thread takes at most, before it runs and after that.
        self.slowness = 0.005
        self.is_killed = False
        self.set_exception_handler(self._note)
        #: What nobody has handled.
        self.errors: list[str] = []

    def time(self) -> float:
        return self.clock.now

    def _note(self, loop: object, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self.errors.append(f"{context['message']} {error!r}")

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Be the running loop for the block, as for a callback."""
        before = events._get_running_loop()
        events._set_running_loop(self)
        try:
            yield
        finally:
            events._set_running_loop(before)

    def start(self, work: Coroutine[Any, Any, Any], name: str | None = None) -> asyncio.Task[Any]:
        """Start a task from outside of the process."""
        with self.entered():
            return self.create_task(work, name=name)

    def step(self) -> None:
        """Run what is due now."""
        with self.entered():
            self._run_once()

    @property
    def due(self) -> float | None:
        """Return when it has something to do next; None if it waits for another process."""
        if self._ready:
            return self.time()
        return self._scheduled[0].when() if self._scheduled else None

    def kill(self) -> None:
        """End the process in mid-air: nothing of it runs any more, not even a `finally`."""
        self.is_killed = True
        _killed.extend(asyncio.all_tasks(self))
        self.close()

    def close(self) -> None:
        self._ready.clear()
        self._scheduled.clear()
        self._closed = True

    def call_soon(self, *args: Any, **kwargs: Any) -> asyncio.Handle:
        if self.is_killed:
            return asyncio.Handle(lambda: None, (), self)
        return super().call_soon(*args, **kwargs)

    def call_at(self, when: float, *args: Any, **kwargs: Any) -> asyncio.TimerHandle:
        if self.is_killed:
            return asyncio.TimerHandle(when, lambda: None, (), self)
        return super().call_at(when, *args, **kwargs)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        """Run `func` as soon as a worker of its executor is free."""
        if isinstance(executor, ThreadPoolExecutor):
            name, workers = executor._thread_name_prefix, executor._max_workers
        else:
            name, workers = "other", 1
        thread = self._threads.setdefault(name, _Thread(workers))
        future = self.create_future()
        thread.waiting.append((future, lambda: func(*args)))
        self._begin(name, thread)
        return future

    def _begin(self, name: str, thread: _Thread) -> None:
        while thread.free and thread.waiting:
            future, call = thread.waiting.popleft()
            if not future.cancelled():
                thread.free -= 1
                self.call_later(self._pause(), self._run, name, thread, future, call)

    def _run(self, name: str, thread: _Thread, future: asyncio.Future[Any], call: Call) -> None:
        result, error = None, None
        with in_thread():
            try:
                result = self._do(name, call)
            except Exception as raised:
                error = raised
        self.call_later(self._pause(), self._end, name, thread, future, result, error)

    def _end(
        self,
        name: str,
        thread: _Thread,
        future: asyncio.Future[Any],
        result: Any,
        error: Exception | None,
    ) -> None:
        thread.free += 1
        if not future.cancelled():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)
        self._begin(name, thread)

    def _pause(self) -> float:
        return self._draw.random() ** 3 * self.slowness

    def _process_events(self, events: object) -> None: ...

    def _write_to_self(self) -> None: ...


class StalledError(Exception):
    """Nothing happens any more, or not soon enough."""


class Simulation:
    """Processes, and the passing of time."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.loops: list[SimulatedLoop] = []

    def run_until(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        """Let the processes work until a condition holds; raise `StalledError` if it does not."""
        end = self.clock.now + seconds
        while not condition():
            due = [at for loop in self.loops if (at := loop.due) is not None]
            if not due or min(due) > end:
                raise StalledError(f"{what}: not after {seconds:g} s")
            self.clock.now = max(self.clock.now, min(due))
            for loop in tuple(self.loops):
                if loop.due is not None and loop.due <= self.clock.now:
                    loop.step()

    def kill(self, loop: SimulatedLoop) -> None:
        self.loops.remove(loop)
        loop.kill()
