"""Delete the runs that the limits on the history do not keep, now.

The limits are those of the page "How long runs are kept"; --days, --runs and --megabytes stand in
for them this once. Exit codes: 0 done, 2 usage error.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError, CommandParser

from playground.engine import retention
from playground.engine.retention import (
    MAX_DAYS,
    MAX_MEBIBYTES,
    MAX_RUNS,
    PruningPreview,
    RetentionLimits,
)
from playground.headless.arguments import USAGE
from playground.headless.lines import one_line
from playground.models import Run
from playground.rendering.differences import counted
from playground.rendering.run_status import size

MEBIBYTE = 1024 * 1024


class Command(BaseCommand):
    """`python manage.py prune_history [--dry-run]`."""

    help = "Delete the runs that the limits on the history do not keep."

    def add_arguments(self, parser: CommandParser) -> None:
        """What to keep this once, whose, and whether anything is deleted at all."""
        parser.add_argument("--dry-run", action="store_true", help="say what would go")
        parser.add_argument("--days", type=_up_to(MAX_DAYS), help="delete what is older")
        parser.add_argument("--runs", type=_up_to(MAX_RUNS), help="how many requests to keep")
        parser.add_argument("--megabytes", type=_up_to(MAX_MEBIBYTES), help="how much to keep")
        parser.add_argument("--user", help="of one user only, by name (hosted mode)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say what goes, for each owner, and delete it."""
        megabytes = options["megabytes"]
        given = RetentionLimits(
            options["days"], options["runs"], None if megabytes is None else megabytes * MEBIBYTE
        )
        for owner in _owners(options["user"], given):
            limits = given if given.any else RetentionLimits.of(owner)
            found = retention.preview(owner, limits)
            for line in _lines(found):
                self.stdout.write(one_line(line))
            if not options["dry_run"]:
                self.stdout.write(f"Deleted {counted(_prune(owner, limits), 'run')}.")


def _prune(owner: int | None, limits: RetentionLimits) -> int:
    batches = retention.deletion_batches(retention.runs_to_delete(owner, limits))
    return sum(retention.delete(batch) for batch in batches)


def _owners(name: str | None, given: RetentionLimits) -> list[int | None]:
    """Whose history it is about: the user's, or everybody's who has a limit."""
    if name is not None:
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no user “{name}”.", returncode=USAGE)
        return [user.pk]
    if given.any:
        return list(Run.objects.order_by("owner").values_list("owner", flat=True).distinct())
    return retention.owners_with_limits()


def _lines(found: PruningPreview) -> list[str]:
    total = f"{counted(found.all_runs, 'run')}, {size(found.all_bytes)}"
    if not found.runs or not found.oldest or not found.newest:
        lines = [f"Nothing goes of {total}."]
    else:
        lines = [
            f"{found.runs} of {total} go: {size(found.bytes)}, "
            f"{found.oldest:%Y-%m-%d %H:%M} to {found.newest:%Y-%m-%d %H:%M}",
            *(f"  {each.runs:>7} {each.agent}, {size(each.bytes)}" for each in found.agents),
        ]
    return [*lines, *(f"  {count} stay: {why}" for why, count in found.retained.items())]


def _up_to(most: int) -> Callable[[str], int]:
    """What reads a whole number from 1 to `most`."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and 0 < int(text[:12]) <= most):
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 to {most:,}")
        return int(text)

    return read
