"""Log lines: as text or JSON, with the run or collection run that the code works for.

Used by `LOGGING` in `playground.settings`. The driver of a run sets what its lines are about, see
`log_context`; tasks that it starts with asyncio inherit it. Threads and background tasks of their
own do not: their messages name the run.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

#: Characters of an id in a line of text.
_SHORT = 8
#: Programs whose first argument is the name of a command, and the commands that serve pages.
_PROGRAMS = frozenset({"manage.py", "nlweb-playground", "nlweb-playground.exe", "__main__.py"})
_SERVING = frozenset({"serve", "runserver"})

#: Names and ids of what the code works for.
_context: ContextVar[Mapping[str, str]] = ContextVar("log_context", default=MappingProxyType({}))


@contextlib.contextmanager
def log_context(**ids: UUID) -> Iterator[None]:
    """Add ids to every line that is logged in the block: `log_context(run=run.pk)`."""
    token = _context.set({**_context.get(), **{name: str(pk) for name, pk in ids.items()}})
    try:
        yield
    finally:
        _context.reset(token)


class TextFormatter(logging.Formatter):
    """Formatter of lines of text: `… playground.engine.driver: [run 1234abcd] message`."""

    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {context}{message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        record.context = "".join(
            f"[{name.replace('_', ' ')} {value[:_SHORT]}] "
            for name, value in _context.get().items()
        )
        return super().format(record)


class JSONFormatter(logging.Formatter):
    """Formatter of lines of JSON, one object for each. docs/operations.md has its members."""

    def __init__(self) -> None:
        super().__init__()
        self._process = process_kind(sys.argv)

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        found: dict[str, Any] = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": self._process,
            "pid": os.getpid(),
            **_context.get(),
        }
        if record.exc_info:
            found["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            found["stack"] = self.formatStack(record.stack_info)
        return json.dumps(found, ensure_ascii=False)


def process_kind(argv: Sequence[str]) -> str:
    """Return what a process does by its command line: `web`, `worker` or `command`.

    A program that is not the playground's is a server of its ASGI application.
    """
    program = Path(argv[0]).name if argv else ""
    command = argv[1] if len(argv) > 1 else ""
    if program not in _PROGRAMS or not command or command.startswith("-") or command in _SERVING:
        return "web"
    return "worker" if command == "worker" else "command"
