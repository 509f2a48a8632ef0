"""Take a collection in from a file: all of it, or nothing.

What is there is brought up to date, what is not is added, and nothing is removed.

Exit codes: 0 taken in (or nothing to do), 1 the file cannot be taken in, 2 usage error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from playground.headless.arguments import USAGE
from playground.headless.lines import one_line
from playground.library.fixtures import (
    FixtureError,
    ImportPlan,
    ItemChange,
    import_fixture,
    plan_import,
)
from playground.library.reading import MAX_BYTES, ParsedImport, parse_import, text_of

#: How each thing is marked in the list.
_MARKS = {"added": "+", "changed": "~"}


class Command(BaseCommand):
    """`python manage.py import_collection FILE|- [--dry-run]`."""

    help = "Import a collection: what is there is brought up to date, nothing is removed."

    def add_arguments(self, parser: CommandParser) -> None:
        """FILE, and whether only to say what would be done."""
        parser.add_argument("file", help="a file; - reads the standard input")
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would be done, and do nothing"
        )

    def handle(self, *args: Any, file: str, dry_run: bool, **options: Any) -> None:
        """Read it, take it in, and say what that changed."""
        try:
            found = parse_import(text_of(_bytes(file)))
            planned = (plan_import if dry_run else import_fixture)(found.fixture, None)
        except FixtureError as error:
            lines = [f"{file}: nothing was imported.", *map(str, error.problems)]
            raise CommandError("\n".join(map(one_line, lines)), returncode=1) from error
        self._tell(found, planned)
        self.stdout.write(_summary(planned, dry_run))

    def _tell(self, found: ParsedImport, planned: ImportPlan) -> None:
        for remark in found.fixture.remarks:
            self.stderr.write(one_line(f"! {remark}"))
        for change in planned.changes:
            if mark := _MARKS.get(change.status):
                self.stdout.write(one_line(f"{mark} {_line(change)}"))


def _line(change: ItemChange) -> str:
    fields = ", ".join(difference.field for difference in change.differences)
    return f"{change.kind} {change.slug} ({change.name})" + (f": {fields}" if fields else "")


def _summary(planned: ImportPlan, dry_run: bool) -> str:
    counts = planned.counts
    left_alone = counts["same"] + counts["kept"]
    told = f"{counts['added']:,} added, {counts['changed']:,} changed, {left_alone:,} left alone"
    return f"{planned.fixture.slug}: {told}{' (a dry run: nothing was done)' if dry_run else ''}."


def _bytes(source: str) -> bytes:
    try:
        if source == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(source).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{source}: {error.strerror}", returncode=USAGE) from error
