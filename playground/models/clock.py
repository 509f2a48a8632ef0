"""Clock of the database: the current time on which all of its processes agree.

The clocks of hosts may be wrong. A time that decides something for several processes (a lease, an
expiry, a retention period) is stored and compared by this clock: in queries with
`django.db.models.functions.Now`, in Python with `database_now`. With SQLite it is the clock of the
host that all of them share. Times that are only shown are the process's own (`timezone.now`).
"""

from __future__ import annotations

from datetime import datetime

from django.db import DEFAULT_DB_ALIAS
from django.db.models.functions import Now
from django.db.models.sql import Query


def database_now() -> datetime:
    """Return the current time of the database, with time zone; it takes a query."""
    query = Query(None)
    query.add_annotation(Now(), "now")
    ((now,),) = query.get_compiler(DEFAULT_DB_ALIAS).results_iter()
    assert isinstance(now, datetime)
    return now
