"""The cluster for trying, `make cluster`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from tests.support.playground_server import ROOT
from tests.support.servers import free_port

pytestmark = pytest.mark.process


@pytest.fixture
def cluster() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.qa.cluster", "--servers", "1", "--workers", "1"]
    with subprocess.Popen(
        [*command, "--port", str(free_port())],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        yield process
        process.send_signal(signal.SIGTERM)


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    """Return the output up to a line; fail if the process ends before."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if re.search(pattern, line):
            return "".join(lines)
    raise AssertionError("".join(lines))


def pid_of(part: str, output: str) -> int:
    [pid] = re.findall(rf"^  {part} +pid (\d+)", output, re.MULTILINE)
    return int(pid)


def test_it_serves_until_it_is_stopped(cluster: subprocess.Popen[str]) -> None:
    output = read_until(cluster, "^Press Ctrl")
    [url] = re.findall(r"^The playground is at (\S+)$", output, re.MULTILINE)
    assert httpx.get(f"{url}ready/").json() == {"ready": True, "problems": {}}
    cluster.send_signal(signal.SIGTERM)
    rest = read_until(cluster, "^Stopped by SIGTERM")
    # Runs are ended before the web processes that show them.
    assert rest.index("worker-1   | ") < rest.index("web-1      | ")
    assert cluster.wait(30) == 0


def test_it_ends_when_a_part_has_ended(cluster: subprocess.Popen[str]) -> None:
    output = read_until(cluster, "^Press Ctrl")
    others = [pid_of(part, output) for part in ("postgresql", "redis", "nginx", "web-1")]
    os.kill(pid_of("worker-1", output), signal.SIGKILL)
    read_until(cluster, "^worker-1 has ended")
    assert cluster.wait(30) == 1
    for pid in others:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
