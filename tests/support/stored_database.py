"""A database that an older version left: migrate it, and open every page of its data.

Run as a module with the database in the environment: `python -m tests.support.stored_database`.
It prints a JSON object: {"stored_runs": number of runs before the migration, "runs": {id and kind
of a run: [HTTP status of each of its pages]}, "pages": {path: HTTP status}, "promises": {text of
the run: polling status}, "trash": [name of a collection that was restored], "recorded": [name of a
collection with a recorded run]}.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.environment import without_settings

ROOT = Path(__file__).resolve().parent.parent.parent
DATABASES = ROOT / "tests" / "models" / "databases"
#: What a run's page loads by itself or at a click, below the run's own address.
_TABS = ("", "timeline/", "events/", "wire/", "conformance/", "session/")


def migrate_and_read(data: Path, **settings: str) -> dict[str, Any]:
    """Migrate the database of these settings in a process of its own; return what it prints."""
    environment = {
        **without_settings(os.environ),
        "PLAYGROUND_DATA_DIR": str(data),
        "PLAYGROUND_FIXTURES_DIR": str(data / "fixtures"),
        "DEBUG": "1",  # Static files need not be collected.
        **settings,
    }
    done = subprocess.run(
        [sys.executable, "-m", __name__], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_pages(found: dict[str, Any]) -> None:
    """Assert that every page of a migrated database opened, and that nothing was lost."""
    assert len(found["runs"]) == found["stored_runs"] > 40
    assert {"ask", "check"} <= {name.rpartition(" ")[2] for name in found["runs"]}
    assert set().union(*map(set, found["runs"].values())) == {200}
    assert set(found["pages"].values()) == {200}
    expected = {"promise answered": "fulfilled", "promise gave_up": "timed_out"}
    assert found["promises"].items() >= {**expected, "promise paused": "paused"}.items()
    assert found["trash"] == ["Deleted"]
    assert found["recorded"] == ["Deleted", "Kept"]


def _main() -> None:
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "playground.settings"
    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client

    from playground.collections import trash
    from playground.models import Collection, PolledPromise, Run, Share

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM playground_run")
        stored = cursor.fetchone()[0]
    call_command("migrate", interactive=False, verbosity=0)
    client = Client()

    def status(path: str) -> int:
        return client.get(path, HTTP_HOST="localhost").status_code

    deleted = Collection.with_trashed.exclude(deleted_at=None)
    restored = [trash.restore(collection).name for collection in deleted]
    runs = Run.objects.order_by("created_at")
    paths = [
        "/",
        "/history/?all=1",
        "/collections/",
        "/collection-runs/",
        "/environments/",
        "/shares/",
    ]
    paths += [each.get_absolute_url() for each in (*Collection.objects.all(), *Share.objects.all())]
    result = {
        "stored_runs": stored,
        "runs": {
            f"{run.pk} {run.kind}": [status(run.get_absolute_url() + tab) for tab in _TABS]
            for run in runs
        },
        "pages": {path: status(path) for path in paths},
        "promises": {each.run.text: each.status for each in PolledPromise.objects.all()},
        "trash": restored,
        "recorded": sorted(
            Collection.objects.exclude(requests__recorded_run=None).values_list("name", flat=True)
        ),
    }
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    _main()
