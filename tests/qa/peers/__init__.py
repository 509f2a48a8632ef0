"""Servers of other packages, run as processes of their own; `make test-peers` is the way here.

Each has a directory here with a lock of its packages (`requirements.lock`, or `package-lock.json`),
and `server.py` where the package needs one. `requirements.in` names what was locked:

    uv pip compile --universal --generate-hashes --no-header requirements.in -o requirements.lock
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tests.support.servers import free_port

HERE = Path(__file__).parent
#: Names the installed peers while these tests run: without it, pytest collects none of them.
INSTALLED = "TEST_PEERS"
PYTHON_PEERS = ("a2a_v03", "fasta2a", "fastmcp", "mcp_v1")
NODE_PEERS = ("everything",)
#: Half a gigabyte; installed with `ARGS=--all` only.
LARGE_PEERS = ("agentscope",)
_EVERYTHING = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
#: Seconds in which a server has to answer.
_PATIENCE = 60.0


def install(*, large: bool = False) -> None:
    """Install the packages of the peers whose locks are newer than what is installed."""
    for name in (*PYTHON_PEERS, *(LARGE_PEERS if large else ())):
        _install(HERE / name, "requirements.lock", ".venv", *_python_commands())
    for name in NODE_PEERS:
        command = ["npm", "ci", "--silent", "--no-fund", "--no-audit"]
        _install(HERE / name, "package-lock.json", "node_modules", command)


def _python_commands() -> tuple[list[str], list[str]]:
    """Return the commands that make an environment and install its lock, by uv where there is one.

    A lock names everything. Without `--no-deps` pip looks for the newest version of a package that
    another one requires with an extra, and refuses that one for its missing hash.
    """
    environment = [sys.executable, "-m", "venv", "--clear", ".venv"]
    options = ["--quiet", "--no-deps", "--require-hashes", "-r", "requirements.lock"]
    if uv := shutil.which("uv"):
        install = [uv, "pip", "install", "--python", ".venv/bin/python", *options]
        return [*environment, "--without-pip"], install
    pip = [".venv/bin/python", "-m", "pip", "install", "--disable-pip-version-check"]
    return environment, [*pip, *options]


def _install(home: Path, lock: str, target: str, *commands: list[str]) -> None:
    done = home / target / ".installed"
    if done.exists() and done.stat().st_mtime >= (home / lock).stat().st_mtime:
        return
    print(f"Installing the packages of {home.name} (once) …", flush=True)
    for command in commands:
        subprocess.run(command, cwd=home, check=True)
    done.touch()


@contextlib.contextmanager
def serving(name: str, *arguments: str) -> Iterator[str]:
    """Start the server of a peer on a free port; yields its origin."""
    home, port = HERE / name, free_port()
    if name in NODE_PEERS:
        command = [shutil.which("node") or "node", _EVERYTHING, "streamableHttp"]
    else:
        command = [".venv/bin/python", "server.py", str(port), *arguments]
    environment = {**os.environ, "PORT": str(port), "PYTHONUNBUFFERED": "1"}
    origin = f"http://127.0.0.1:{port}"
    # A file: a server that logs much would wait for a reader of a pipe.
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=log)
        try:
            _wait_for(origin, process, log)
            yield origin
        finally:
            process.kill()
            process.wait()


def _wait_for(origin: str, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """Return once the server answers, with any status. Raises `RuntimeError` with its log."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(origin, timeout=1)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    log.seek(0)
    raise RuntimeError(f"{process.args!r} did not start:\n{log.read().decode(errors='replace')}")
