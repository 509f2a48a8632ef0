"""Command that deletes the runs beyond the limits of the history.

The limits are those of the retention page; --days and --runs replace them for this call. Exit
codes: 0 done, 2 usage error.
"""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from django.contrib.auth.models import User
from django.core.management import CommandError, CommandParser

from playground.cli.arguments import USAGE, up_to
from playground.cli.database_command import DatabaseCommand
from playground.cli.output import one_line
from playground.engine import retention
from playground.engine.retention import MAX_DAYS, MAX_RUNS, PruningPreview, RetentionLimits
from playground.models import Run
from playground.models.storage import StorageUsage
from playground.ui.formatting import count_text, size


class Command(DatabaseCommand):
    """`python manage.py prune_history [--dry-run]`."""

    help = "Delete the runs beyond the retention limits."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="print what would be deleted")
        parser.add_argument("--days", type=up_to(MAX_DAYS), help="delete runs older than this")
        parser.add_argument(
            "--runs", type=up_to(MAX_RUNS), help="number of runs to keep, newest first"
        )
        parser.add_argument("--megabytes", type=_removed, help=argparse.SUPPRESS)
        parser.add_argument("--user", help="only the runs of this user, by name (hosted mode)")

    def handle(self, *args: Any, **options: Any) -> None:
        overrides = RetentionLimits(options["days"], options["runs"])
        for owner in _owners(options["user"], overrides):
            limits = overrides if overrides.any else RetentionLimits.of(owner)
            found = retention.preview(owner, limits)
            for line in _lines(found):
                self.stdout.write(one_line(line))
            if not options["dry_run"]:
                self.stdout.write(f"Deleted {count_text(_prune(owner, limits), 'run')}.")
            self.stdout.write(f"Stored: {StorageUsage.of(owner).text}.")


def _prune(owner: int | None, limits: RetentionLimits) -> int:
    trees = retention.runs_to_delete(owner, limits)
    deleted = sum(retention.delete(batch) for batch in retention.deletion_batches(trees))
    retention.delete_unsent_collection_runs(owner, limits, trees)
    return deleted


def _owners(name: str | None, overrides: RetentionLimits) -> list[int | None]:
    """Return the owners of the histories: one user, or all with a limit."""
    if name is not None:
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"Unknown user “{name}”.", returncode=USAGE)
        return [user.pk]
    if overrides.any:
        return list(Run.objects.order_by("owner").values_list("owner", flat=True).distinct())
    return retention.owners_with_limits()


def _lines(preview: PruningPreview) -> list[str]:
    if not preview.runs or not preview.oldest or not preview.newest:
        total = f"{count_text(preview.all_runs, 'run')}, {size(preview.all_bytes)}"
        lines = [f"No runs to delete ({total})."]
    else:
        lines = [
            f"To be deleted: {preview.runs} of {count_text(preview.all_runs, 'run')}, "
            f"{size(preview.bytes)} of {size(preview.all_bytes)}, "
            f"{preview.oldest:%Y-%m-%d %H:%M} to {preview.newest:%Y-%m-%d %H:%M}",
            *(f"  {each.runs:>7} {each.agent}, {size(each.bytes)}" for each in preview.agents),
        ]
    return [*lines, *(f"  {count} retained: {why}" for why, count in preview.retained.items())]


def _removed(text: str) -> NoReturn:
    raise argparse.ArgumentTypeError("this limit was removed. Use --days or --runs.")
