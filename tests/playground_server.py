"""The whole playground as a process of its own: what a user starts with `make run`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tests.isolation import without_settings

ROOT = Path(__file__).resolve().parent.parent


class PlaygroundServer:
    """`manage.py serve` on a free port of 127.0.0.1, with a data directory of its own."""

    def __init__(self, data: Path, port: int = 0, **environment: str) -> None:
        self.data = data
        self.port = port
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None
        self.url = ""
        self.log: list[str] = []

    def __enter__(self) -> PlaygroundServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the server, for commands that shall see the same data.

        None of the developer's settings are in it, his database least of all.
        """
        return {
            **without_settings(os.environ),
            "PLAYGROUND_DATA_DIR": str(self.data),
            # Nothing that a test saves lands among the fixtures that ship.
            "PLAYGROUND_FIXTURES_DIR": str(self.data / "fixtures"),
            "PYTHONUNBUFFERED": "1",
            **self._environment,
        }

    @property
    def pid(self) -> int:
        """The server's process id."""
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Start and wait until it answers; again on the same port after a stop."""
        (self.data / "fixtures").mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(self.port)],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout
        for line in self._process.stdout:
            self.log.append(line)
            if found := re.search(r"http://[\w.]+:(\d+)", line):
                self.url, self.port = found[0], int(found[1])
                break
        else:
            raise RuntimeError("the playground did not start:\n" + "".join(self.log))
        threading.Thread(target=self._drain, daemon=True).start()
        self._wait_until_listening()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop it; SIGKILL is how a crash looks."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(number)
            self._process.wait(timeout=20)

    def manage(self, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run a management command on the same data."""
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            **options,
        )

    def _drain(self) -> None:
        assert self._process
        assert self._process.stdout
        self.log.extend(self._process.stdout)

    def _wait_until_listening(self) -> None:
        import httpx

        transport = httpx.HTTPTransport(retries=10)  # Backs off between connects.
        with httpx.Client(transport=transport, timeout=20, trust_env=False) as client:
            client.get(f"{self.url}/").raise_for_status()
