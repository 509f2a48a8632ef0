"""`prune_history`: output and deletion."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from playground.models import Retention, Run, Share
from tests.support.commands import run_command


def make(days: float, **fields: Any) -> Run:
    found: Run = Run.objects.create(
        **{
            "agent_name": "Recipes", "url": "http://a.example", "protocol": "nlweb",
            "binding": "http", "version": "0.55", "request": {}, "state": "completed",
            "bytes": 1024 * 1024, **fields,
        }
    )  # fmt: skip
    found.created_at = timezone.now() - timedelta(days=days)
    found.save(update_fields=["created_at"])
    return found


def prune(*arguments: str) -> str:
    """Run the command with these arguments; return its output."""
    done = run_command("prune_history", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
class TestPruning:
    def test_by_the_limits_that_are_set(self) -> None:
        make(9, agent_name="Old\x1b[2J")
        Share.objects.create(run=make(8))
        kept = make(1)
        Retention.objects.create(max_days=5)
        said = prune("--dry-run")
        assert "To be deleted: 1 of 3 runs, 1.0 MB of 3.0 MB" in said
        assert "1 Old" in said
        assert "\x1b" not in said
        assert "1 retained: shared with a link" in said
        assert Run.objects.count() == 3
        done = prune()
        assert "Deleted 1 run." in done
        assert "Stored: 2.0 MB." in done
        assert set(Run.objects.exclude(shares__isnull=False)) == {kept}

    def test_by_others_this_once(self) -> None:
        for days in (1, 2, 3):
            make(days)
        assert "No runs to delete (3 runs" in prune("--days", "5", "--dry-run")
        assert "2 of 3 runs" in prune("--runs", "1", "--dry-run")
        assert "Deleted 1 run." in prune("--runs", "2")
        assert Run.objects.count() == 2
        assert not Retention.objects.exists()

    def test_nothing_is_said_where_nobody_has_a_limit(self) -> None:
        make(900)
        assert prune() == ""
        assert Run.objects.exists()

    def test_of_one_user(self) -> None:
        for name in ("one", "other"):
            make(9, owner=User.objects.create(username=name))
        assert "Deleted 1 run." in prune("--user", "one", "--days", "5")
        assert [run.owner and run.owner.username for run in Run.objects.all()] == ["other"]
        assert "Deleted 1 run." in prune("--days", "5")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--days", "0"], "0 is not an integer from 1 to 36,500"),
        (["--days", "1000000"], "1000000 is not an integer from 1 to 36,500"),
        (["--runs", "many"], "many is not an integer from 1 to 100,000,000"),
        (["--megabytes", "5"], "this limit was removed. Use --days or --runs."),
        (["--user", "nobody"], "Unknown user “nobody”"),
    ],
    ids=["zero", "too many", "no number", "removed", "nobody"],
)
def test_mistakes_exit_with_two(arguments: list[str], message: str) -> None:
    done = run_command("prune_history", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
