"""A sampling profile of a process while it is measured, by py-spy."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SHOWN = 25
RATE = 200
_FRAME = re.compile(r"(.*) \((?:.*?/)??((?:[^/]+/)?[^/]+?)(?::\d+)?\)")


class Profiler:
    """Samples of several recordings, added up."""

    def __init__(self, *, gil: bool) -> None:
        """With `gil`, record only threads that hold the GIL, and none that waits for it."""
        self._options = ["--gil"] if gil else []
        #: Beside this interpreter, or on the PATH.
        beside = Path(sys.executable).with_name("py-spy")
        self.command = str(beside) if beside.exists() else shutil.which("py-spy")
        self.stacks: Counter[str] = Counter()

    @contextlib.contextmanager
    def recording(self, pid: int) -> Iterator[None]:
        """Record the process while the block runs."""
        if not self.command:
            yield
            return
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder) / "raw"
            form = ["--format", "raw", "--function", "--rate", str(RATE), "-d", "3600"]
            arguments = [*form, *self._options, "-o", str(raw), "--pid", str(pid)]
            recorder = subprocess.Popen(
                [self.command, "record", *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert recorder.stdout
            for line in recorder.stdout:
                if "Sampling process" in line:
                    break
            try:
                yield
            finally:
                recorder.send_signal(signal.SIGINT)
                recorder.communicate()
            for line in raw.read_text().splitlines():
                stack, _, count = line.rpartition(" ")
                self.stacks[stack] += int(count)

    def write(self, path: Path) -> None:
        """Write the stacks as flame graphs read them."""
        path.write_text("".join(f"{stack} {count}\n" for stack, count in self.stacks.items()))

    def print_functions(self) -> None:
        """Print the functions with the most samples, by their own and by all of them."""
        own: Counter[str] = Counter()
        cumulative: Counter[str] = Counter()
        for stack, count in self.stacks.items():
            functions = [_FRAME.sub(r"\1 (\2)", frame) for frame in stack.split(";")]
            own[functions[-1]] += count
            for function in set(functions):
                cumulative[function] += count
        total = own.total()
        for title, counts in (("self", own), ("cumulative", cumulative)):
            print(f"\n{title} share of {total:,} samples")
            for function, count in counts.most_common(SHOWN):
                print(f"{count / total:7.1%}  {function}")
