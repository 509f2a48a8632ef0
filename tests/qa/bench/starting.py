"""The start of a command: `send` beside a program that sends the same request with httpx alone.

Both are measured by the processor's time of a whole process, so the speed of the agent and other
programs of the machine matter little. Both write what they receive.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping

from tests.qa.bench.table import Row
from tests.support.playground_server import ROOT

#: How often each of them runs; the first time, which may write bytecode, does not count.
TURNS = 6
#: How many times the bare program's time `send` may take.
TIMES = 2.5
BARE = """
import sys, httpx
url, document = sys.argv[1:]
headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
with httpx.Client(timeout=60, trust_env=False) as client:
    with client.stream("POST", url, content=document, headers=headers) as response:
        for line in response.iter_lines():
            print(line)
"""


def rows(agent: str, environment: Mapping[str, str]) -> list[Row]:
    """`send` to the agent at a URL, with the environment of a playground's commands."""
    document = {"query": {"text": "eggs"}, "prefer": {"streaming": True}}
    bare = [sys.executable, "-c", BARE, f"{agent}/ask", json.dumps(document)]
    ours = [sys.executable, "manage.py", "send", agent, "--text", "eggs"]
    with_bytecode = {**environment, "PYTHONDONTWRITEBYTECODE": ""}
    pairs = [(_seconds(ours, with_bytecode), _seconds(bare, with_bytecode)) for _ in range(TURNS)]
    ratio = statistics.median(our / their for our, their in pairs[1:])
    our, their = (statistics.median(times) for times in zip(*pairs[1:], strict=True))
    return [
        Row(
            "`send` of one request, compared with a bare httpx program",
            f"{our * 1000:.0f} to {their * 1000:.0f} ms of processor time: {ratio:.1f} times",
            f"≤ {TIMES} times",
            ratio <= TIMES,
        )
    ]


def _seconds(command: list[str], environment: Mapping[str, str]) -> float:
    """The processor's time of a command. Raises if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
