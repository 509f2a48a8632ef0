"""Command that imports collections from files: of each file all of it, or nothing.

Items that exist are updated, others are added, and nothing is removed. A file without anything that
can be imported is an error.

Exit codes: 0 imported (or nothing to do), 1 a file cannot be imported, 2 usage error.
"""

from __future__ import annotations

from typing import Any

from django.core.management import CommandError, CommandParser

from playground.cli.arguments import bytes_from
from playground.cli.database_command import DatabaseCommand
from playground.cli.output import one_line
from playground.collections.fixture import FixtureError
from playground.collections.fixture_parser import MAX_BYTES, decode_file
from playground.collections.importer import ImportPlan, ItemChange, import_fixture, plan_import
from playground.import_export.import_formats import IMPORT_FORMATS, ParsedImport, parse_import

*_FIRST, _LAST = (each.label for each in IMPORT_FORMATS)
_FORMATS = f"{', '.join(_FIRST)} or {_LAST}"
#: Sign of a change in the list, by status.
_SIGNS = {"added": "+", "changed": "~"}


class Command(DatabaseCommand):
    """`python manage.py import_collection FILE|- … [--dry-run]`."""

    help = "Import a collection: add and update requests; existing requests are not removed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            nargs="+",
            help=f"{_FORMATS}; several are possible; - for standard input",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="print the changes without importing"
        )

    def handle(self, *args: Any, file: list[str], dry_run: bool, **options: Any) -> None:
        """Parse the files, import them, and print the changes. Report all that are not valid."""
        lines: list[str] = []
        for name in file:
            try:
                self._import(name, dry_run)
            except FixtureError as error:
                lines += [f"{name}: nothing was imported.", *map(str, error.problems)]
        if lines:
            raise CommandError("\n".join(map(one_line, lines)), returncode=1)

    def _import(self, name: str, dry_run: bool) -> None:
        parsed = parse_import(decode_file(bytes_from(name, MAX_BYTES)))
        plan = (plan_import if dry_run else import_fixture)(parsed.fixture, None)
        self._print_changes(parsed, plan)
        self.stdout.write(_summary(plan, dry_run))

    def _print_changes(self, parsed: ParsedImport, plan: ImportPlan) -> None:
        for remark in parsed.fixture.remarks:
            self.stderr.write(one_line(f"! {remark}"))
        for change in plan.changes:
            if sign := _SIGNS.get(change.status):
                self.stdout.write(one_line(f"{sign} {_line(change)}"))


def _line(change: ItemChange) -> str:
    fields = ", ".join(difference.field for difference in change.differences)
    return f"{change.kind} {change.slug} ({change.name})" + (f": {fields}" if fields else "")


def _summary(plan: ImportPlan, dry_run: bool) -> str:
    counts = plan.changes.counts
    unchanged = counts["same"] + counts["kept"]
    text = f"{counts['added']:,} added, {counts['changed']:,} changed, {unchanged:,} unchanged"
    return f"{plan.fixture.slug}: {text}{' (dry run, nothing was imported)' if dry_run else ''}."
