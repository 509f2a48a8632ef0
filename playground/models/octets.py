"""Generated columns with the bytes of a row's other columns, which the quota counts."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Coalesce


class Octets(models.Func):
    """The bytes of a text; `Length` counts characters, in SQLite only those before a U+0000."""

    function = "OCTET_LENGTH"
    output_field = models.BigIntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return the SQL for SQLite, which has the function in new versions only."""
        return self.as_sql(
            compiler, connection, template="LENGTH(CAST(%(expressions)s AS BLOB))", **context
        )


def octets_of(*columns: str) -> models.GeneratedField:
    """Return a generated column with the bytes of these columns together."""
    first, *others = (Coalesce(Octets(name), 0) for name in columns)
    return models.GeneratedField(
        expression=sum(others, first), output_field=models.BigIntegerField(), db_persist=True
    )
