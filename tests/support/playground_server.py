"""The whole playground as a process of its own: what a user starts with `make run`.

Run as a module, it fills a data directory: `python -m tests.support.playground_server DIRECTORY`.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from tests.support.environment import without_settings
from tests.support.isolation import SHARED
from tests.support.servers import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
DATABASE = "playground.sqlite3"
#: Beside it in the template: the same database before anything was loaded into it.
_EMPTY_DATABASE = "empty.sqlite3"


def template_data_directory() -> Path | None:
    """Return a data directory to copy: database, keys, collected static files.

    The first process of a run of pytest that asks for it makes it, the others wait. Outside
    pytest there is none.
    """
    if not (shared := os.environ.get(SHARED)):
        return None
    template = Path(shared) / "template"
    template.parent.mkdir(parents=True, exist_ok=True)
    with (template.parent / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            unfinished = template.with_suffix(".unfinished")
            subprocess.run(
                [sys.executable, "-m", "tests.support.playground_server", str(unfinished)],
                cwd=ROOT,
                env=_environment(unfinished),
                check=True,
            )
            unfinished.rename(template)
    return template


def _environment(data: Path) -> dict[str, str]:
    """Return the environment of a playground with this data and default settings."""
    return {
        **without_settings(os.environ),
        "PLAYGROUND_DATA_DIR": str(data),
        # Nothing that a test saves lands among the fixtures that ship.
        "PLAYGROUND_FIXTURES_DIR": str(data / "fixtures"),
        "PYTHONUNBUFFERED": "1",
        # Tests stop it in the middle of runs.
        "PLAYGROUND_DRAIN_SECONDS": "1",
    }


def _fill(data: Path) -> None:
    """Fill the data directory of the settings as the first start of `serve` does, but faster."""
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "playground.settings"
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from playground.server.startup import collect_static, load_samples
    from tests.support import schema

    models_make_tables = schema.disable_migrations()
    call_command("migrate", run_syncdb=True, interactive=False, verbosity=0)
    models_make_tables.undo()
    schema.record_migrations()
    connection.close()  # What is in the write-ahead log moves into the file.
    shutil.copy(data / DATABASE, data / _EMPTY_DATABASE)
    load_samples("http://127.0.0.1:8000")
    connection.close()
    collect_static()


class PlaygroundProcess:
    """A command of `manage.py` that runs until it is stopped, with its environment and its log.

    `tree` is the checkout, `python` its interpreter, `options` those of the command. `echo` is
    called with each line of the log. With `own_session` a signal of the terminal does not reach it.
    """

    #: The command, and the line of its log with which it has started.
    COMMAND: str
    STARTED: str

    def __init__(
        self,
        data: Path,
        *,
        tree: Path = ROOT,
        python: str = sys.executable,
        options: Sequence[str] = (),
        echo: Callable[[str], object] | None = None,
        own_session: bool = False,
        **environment: str,
    ) -> None:
        self.data = data
        self._tree = tree
        self._python = python
        self._options = options
        self._echo = echo
        self._own_session = own_session
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None
        self._drainer: threading.Thread | None = None
        self.log: list[str] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the process, for commands that shall see the same data.

        None of the developer's settings are in it, his database least of all.
        """
        return {**_environment(self.data), **self._environment}

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process exists."""
        return self._process is not None and self._process.poll() is None

    def start(self, **environment: str) -> None:
        """Start and wait until it has started.

        `environment` is added to that of this start and of later ones.
        """
        self._environment |= environment
        self._start()

    def _start(self, *options: str) -> None:
        """Start, and wait for the line that says so."""
        (self.data / "fixtures").mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [self._python, "manage.py", self.COMMAND, *options, *self._options],
            cwd=self._tree,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=self._own_session,
        )
        assert self._process.stdout
        for line in self._process.stdout:
            self._add(line)
            if re.search(self.STARTED, line):
                break
        else:
            raise RuntimeError("the playground did not start:\n" + "".join(self.log))
        self._drainer = threading.Thread(target=self._drain, daemon=True)
        self._drainer.start()

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process
        self._process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int | None:
        """Stop it; SIGKILL is how a crash looks. Return its exit status, None if not started."""
        if self._process is None:
            return None
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self.wait()

    def wait(self, seconds: float = 20) -> int:
        """Wait until it has ended; return its exit status."""
        assert self._process
        status = self._process.wait(timeout=seconds)
        if self._drainer:
            self._drainer.join(timeout=20)
        return status

    def manage(self, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run a management command on the same data."""
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            [self._python, "manage.py", *arguments],
            cwd=self._tree,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            **options,
        )

    def _add(self, line: str) -> None:
        self.log.append(line)
        if self._echo:
            self._echo(line)

    def _drain(self) -> None:
        assert self._process
        assert self._process.stdout
        for line in self._process.stdout:
            self._add(line)


class PlaygroundServer(PlaygroundProcess):
    """`manage.py serve` on a free port of 127.0.0.1, with a data directory of its own.

    It begins with a copy of the template, unless `template` is false or there is data already.
    """

    COMMAND, STARTED = "serve", r"http://[\w.]+:\d+"

    def __init__(self, data: Path, port: int = 0, *, template: bool = True, **options: Any) -> None:
        super().__init__(data, **options)
        self.port = port or free_port()
        self._template = template
        self.url = ""

    def prepare(self, *, samples: bool = True) -> None:
        """Copy the template into the data directory if that is without a database.

        Without `samples` the tables are empty.
        """
        if not self._template or (self.data / DATABASE).exists():
            return
        if template := template_data_directory():
            databases = shutil.ignore_patterns(DATABASE, _EMPTY_DATABASE)
            shutil.copytree(template, self.data, ignore=databases, dirs_exist_ok=True)
            database = DATABASE if samples else _EMPTY_DATABASE
            shutil.copy(template / database, self.data / DATABASE)

    def start(self, **environment: str) -> None:
        """Start and wait until it answers; again on the same port after a stop.

        `environment` is added to that of this start and of later ones.
        """
        self._environment |= environment
        self.prepare(samples=self._environment.get("PLAYGROUND_MODE") != "hosted")
        self._start("--port", str(self.port))
        # What it prints can be the URL of a proxy.
        self.url = f"http://127.0.0.1:{self.port}"
        self._wait_until_listening()

    def _wait_until_listening(self) -> None:
        import httpx

        transport = httpx.HTTPTransport(retries=10)  # Backs off between connects.
        with httpx.Client(transport=transport, timeout=20, trust_env=False) as client:
            client.get(f"{self.url}/").raise_for_status()


class PlaygroundWorker(PlaygroundProcess):
    """`manage.py worker`, on the data and with the settings of web processes."""

    COMMAND, STARTED = "worker", r"The worker drives"


if __name__ == "__main__":
    _fill(Path(sys.argv[1]))
