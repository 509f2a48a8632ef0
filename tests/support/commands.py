"""Management commands in this process: what they are given, what they print, how they exit.

The command uses the test's own database, so the test needs one with transactions, and no event
loop may be running in its thread: a command begins one of its own. An agent that it is to talk
to is served from another thread (`tests.support.servers.serving`) or process (the `playground`
fixture).
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

from django.core.management import load_command_class


@dataclass(frozen=True)
class Result:
    """What a command printed, and its exit code; the names are those of `CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def json_lines(self) -> list[dict[str, Any]]:
        """The lines of the standard output, each a JSON object."""
        return [json.loads(line) for line in self.stdout.split("\n") if line]


def run_command(
    name: str, *arguments: str, stdin: str = "", encoding: str = "utf-8", terminal: bool = False
) -> Result:
    """Run a command of the playground; all but the start of Python happens as on a terminal.

    The system checks are left out: they look at the whole project and find the same each time.
    An exception that the command does not handle, which would print a traceback, is raised.

    `encoding` is that of the standard output; with `terminal`, the standard error is one.
    """
    out, err = _stream(encoding=encoding), _stream(errors="backslashreplace")
    if terminal:
        err.isatty = lambda: True  # type: ignore[method-assign]
    given = _stream(stdin)
    code = 0
    with mock.patch.multiple("sys", stdin=given, stdout=out, stderr=err), _logging_to(err):
        command = load_command_class("playground", name)
        command.requires_system_checks = []
        try:
            command.run_from_argv(["manage.py", name, *arguments])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
    return Result(code, _written(out), _written(err))


def _stream(text: str = "", errors: str = "strict", encoding: str = "utf-8") -> io.TextIOWrapper:
    """A stream that handles characters without an encoding as Python's own of that kind does."""
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding, errors)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


@contextlib.contextmanager
def _logging_to(stream: io.TextIOWrapper) -> Iterator[None]:
    """Send what is logged for the console to a stream."""
    consoles = [
        handler
        for handler in logging.getLogger().handlers
        if type(handler) is logging.StreamHandler
    ]
    before = [handler.setStream(stream) for handler in consoles]
    try:
        yield
    finally:
        for handler, found in zip(consoles, before, strict=True):
            handler.setStream(found or handler.stream)
