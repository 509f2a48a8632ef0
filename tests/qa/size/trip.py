"""What of the code a request enters, from Send to its last card."""

from __future__ import annotations

import json
import re
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.qa.snapshots.site import Site
from tests.support.playground_server import PlaygroundServer

_DOCUMENT = {"query": {"text": "vegetarian soup"}, "prefer": {"streaming": True}}
#: The composer's form.
_FIELDS = {
    "agent": "demo",
    "protocol": "nlweb",
    "version": "0.55",
    "binding": "http",
    "document": json.dumps(_DOCUMENT),
}
#: Loaded by the interpreter of the playground before anything else: SIGUSR1 begins to count,
#: SIGUSR2 writes what was counted.
_PROFILER = """
import json, os, signal, sys, threading

ROOT = os.getcwd() + "/playground/"
functions, classes = set(), set()

def note(frame, event, _):
    if event != "call":
        return
    code = frame.f_code
    if code.co_filename.startswith(ROOT) and "/demo/" not in code.co_filename:
        functions.add((code.co_filename[len(ROOT):], code.co_qualname))
    if code.co_name == "__init__" and "self" in frame.f_locals:
        kind = type(frame.f_locals["self"])
        if kind.__module__.startswith("playground.") and ".demo" not in kind.__module__:
            classes.add(f"{kind.__module__}.{kind.__qualname__}")

def begin(*_):
    functions.clear(), classes.clear()
    sys.setprofile(note)  # Other threads are profiled since they started.

def write(*_):
    sys.setprofile(None), threading.setprofile(None)
    with open(os.environ["TRIP"] + ".part", "w") as file:
        json.dump([sorted(functions), sorted(classes)], file)
    os.rename(os.environ["TRIP"] + ".part", os.environ["TRIP"])

signal.signal(signal.SIGUSR1, begin)
signal.signal(signal.SIGUSR2, write)
threading.setprofile(note)
"""


def count(tree: Path, *, verbose: bool) -> Iterator[str]:
    """Yield the numbers of modules, functions and classes, and their names if asked for."""
    with tempfile.TemporaryDirectory() as directory:
        modules = Path(directory, "modules")
        modules.mkdir()
        (modules / "sitecustomize.py").write_text(_PROFILER)
        result, data = Path(directory, "trip"), Path(directory, "data")
        environment = {"PYTHONPATH": str(modules), "TRIP": str(result)}
        with PlaygroundServer(data, tree=tree, **environment) as server:
            site = Site(server.url)
            _send(site)  # What is imported and filled at first use is not the request's.
            server.send_signal(signal.SIGUSR1)
            time.sleep(0.5)
            _send(site)
            server.send_signal(signal.SIGUSR2)
            while not result.exists():
                time.sleep(0.1)
        functions, classes = json.loads(result.read_text())
    modules_entered = {module for module, _ in functions}
    yield f"modules {len(modules_entered)}, functions {len(functions)}, classes {len(classes)}"
    if verbose:
        yield from (f"  {module} {name}" for module, name in functions)
        yield from (f"  class {name}" for name in classes)


def _send(site: Site) -> None:
    page = site.post("/runs/", _FIELDS).text
    run = re.search(r'data-run="([^"]+)"', page)
    assert run, page
    site.follow(f"/ws/runs/{run[1]}/?after=0")
