"""What a command imports: most of the time of a short one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.playground_server import ROOT, PlaygroundServer

#: Pages and servers; no command but `serve` and `worker` needs them.
PAGES = {
    "channels.consumer",
    "daphne",
    "markdown_it",
    "opentelemetry.sdk",
    "playground.live",
    "playground.reference",
    "playground.site",
    "playground.urls",
    "twisted",
}
EXPECTATIONS = {"jsonpath_rfc9535", "playground.expectations", "playground.lesson_format"}
ACTIONS = {"playground.conversation.actions", "playground.protocols.actions"}
DOCTOR = {"playground.protocols.doctor.diagnosis"}
RULES = {"jsonschema", "playground.conformance"}

#: Commands, and the modules and packages that they do not import.
NOT_IMPORTED = {
    "send demo --text soup": {
        *PAGES, *EXPECTATIONS, *ACTIONS, *DOCTOR, "playground.collections",
    },
    "send --help": {*PAGES, *EXPECTATIONS, *ACTIONS, *DOCTOR, *RULES, "playground.collections"},
    "doctor --help": {*PAGES, *EXPECTATIONS, *RULES},
    "export_collection tour": {
        *PAGES, *ACTIONS, *DOCTOR, "playground.conformance", "playground.engine.driver",
    },
    "import_collection --help": {*PAGES, *ACTIONS, *DOCTOR, "playground.conformance"},
    "prune_history --dry-run": {*PAGES, *EXPECTATIONS, *ACTIONS, *DOCTOR, *RULES},
    "run_collection --help": {*PAGES, *ACTIONS, *DOCTOR, "playground.conformance"},
    "twin --help": {*PAGES, *EXPECTATIONS, *ACTIONS, *DOCTOR, *RULES},
}  # fmt: skip


#: Runs the command of its arguments, and then writes the names of all modules.
PROGRAM = """
import sys
from playground.__main__ import run_command
try:
    run_command(["manage.py", *sys.argv[1:]])
finally:
    print("imported:", *sys.modules, file=sys.stderr)
"""


@pytest.mark.process
@pytest.mark.parametrize("command", NOT_IMPORTED)
def test_a_command_imports_only_what_it_needs(command: str, playground: PlaygroundServer) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *command.split()],
        cwd=ROOT, env=playground.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    imported = set(done.stderr.rpartition("imported:")[2].split())
    assert "playground.models" in imported
    unwanted = NOT_IMPORTED[command]
    assert {name for name in imported if not unwanted.isdisjoint(with_parents(name))} == set()


def with_parents(module: str) -> set[str]:
    """Return a module and the packages that it is in."""
    parts = module.split(".")
    return {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
