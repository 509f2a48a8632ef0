"""Tables of the options of the management commands in Markdown, for docs/cli.md.

`python -m tests.support.command_reference` writes them into the page, each between the comments
`<!-- options: NAME -->` and `<!-- end -->`. tests/test_docs.py compares them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from django.core.management import BaseCommand, load_command_class

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "cli.md"
COMMANDS = sorted(path.stem for path in (ROOT / "playground/management/commands").glob("[!_]*.py"))
#: A table in the page, with the comments around it.
BLOCK = re.compile(r"<!-- options: (\w+) -->\n(.*?)<!-- end -->", re.DOTALL)


def _arguments(name: str) -> Iterator[argparse.Action]:
    """Yield the arguments and options of a command that its help has and not every command."""
    common = {
        (option, action.nargs)
        for action in BaseCommand().create_parser("manage.py", "")._actions
        for option in action.option_strings
    }
    command = load_command_class("playground", name)
    for action in command.create_parser("manage.py", name)._actions:
        known = any((option, action.nargs) in common for option in action.option_strings)
        if not known and action.help != argparse.SUPPRESS:
            yield action


def _spelling(action: argparse.Action) -> str:
    """Return an argument as it is typed: its names, each with its value."""
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = ""
    if action.nargs != 0:
        # A pipe would end the cell of the table.
        choices = "\\|".join(action.choices or ())
        value = f" {action.metavar or choices or action.dest.upper()}".replace("'", "")
    return ", ".join(f"`{each}{value}`" for each in sorted(action.option_strings, key=len))


def options_table(name: str) -> str:
    """Return the table of a command's own arguments and options; "" if it has none."""
    rows = [f"| {_spelling(each)} | {each.help or ''} |\n" for each in _arguments(name)]
    return f"\n| argument | meaning |\n|---|---|\n{''.join(rows)}\n" if rows else ""


def with_tables(text: str) -> str:
    """Return the page with every table replaced by the present one."""
    return BLOCK.sub(
        lambda found: f"<!-- options: {found[1]} -->\n{options_table(found[1])}<!-- end -->", text
    )


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
    django.setup()
    PAGE.write_text(with_tables(PAGE.read_text()))
