"""A PostgreSQL database of an older version."""

from __future__ import annotations

import gzip
from pathlib import Path

import psycopg

from tests.support.stored_database import DATABASES, check_pages, migrate_and_read


def test_a_dump_of_version_0_1_is_migrated_with_all_its_runs(
    tmp_path: Path, shared: dict[str, str]
) -> None:
    dump = gzip.decompress((DATABASES / "version-0.1.sql.gz").read_bytes()).decode()
    with psycopg.connect(shared["DATABASE_URL"], autocommit=True) as database:
        database.execute(dump)
    check_pages(migrate_and_read(tmp_path, DATABASE_URL=shared["DATABASE_URL"]))
