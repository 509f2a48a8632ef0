"""Rows of values for a collection run, from CSV (RFC 4180, with a header) or JSON.

A row gives the values of one iteration: `city,days` above `Oslo,3`, or
`[{"city": "Oslo", "days": 3}]`. Values of CSV are text, those of JSON whatever they are.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from playground.protocols import json_decoder, json_errors
from playground.variables import is_name

#: Bytes of a file, rows of it, and columns of a row.
MAX_BYTES, MAX_ROWS, MAX_COLUMNS = 5 * 1024 * 1024, 10_000, 200
#: Nesting of JSON.
MAX_DEPTH = 50

Row = dict[str, Any]


class DataError(ValueError):
    """A data file that cannot be read; says where."""


def read_rows(data: bytes, name: str = "") -> list[Row]:
    """The rows of a file; its ending says what it is, and where there is none, its beginning.

    Raises `DataError`, a sentence that names the place.
    """
    if len(data) > MAX_BYTES:
        raise DataError(f"The data file is larger than {MAX_BYTES // 1024 // 1024} MiB.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError(f"Line {line}: not UTF-8 text.") from None
    ending = name.lower().rpartition(".")[2]
    is_json = ending == "json" if ending in ("json", "csv") else text.lstrip()[:1] in ("[", "{")
    rows = _json(text) if is_json else _csv(text)
    if not rows:
        raise DataError("The data file has no rows.")
    return rows


def _json(text: str) -> list[Row]:
    if json_decoder.exceeds_depth(text, MAX_DEPTH):
        raise DataError(f"The JSON is nested more than {MAX_DEPTH} deep.")
    try:
        value = json_decoder.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise DataError(f"This is not JSON: {json_errors.said(error)} ({place}).") from None
    except ValueError:
        raise DataError("The JSON has a number with too many digits.") from None
    if not isinstance(value, list):
        raise DataError("The JSON is no array: one object for every iteration is wanted.")
    _count(len(value))
    for number, row in enumerate(value, 1):
        if not isinstance(row, dict):
            raise DataError(f"Row {number}: this is no object.")
        _check_names(list(row), f"Row {number}")
    return value


def _csv(text: str) -> list[Row]:
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(f"Line {line}: a CSV file holds no zero bytes.")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return list(_csv_rows(reader))
    except csv.Error as error:
        raise DataError(f"Line {reader.line_num}: {error}.") from None


def _csv_rows(reader: Any) -> Iterator[Row]:
    names: Sequence[str] = [name.strip() for name in next(reader, [])]
    if not names:
        raise DataError("Line 1: the header with the names of the columns is missing.")
    _check_names(names, "Line 1")
    count = 0
    for cells in reader:
        if not cells:
            continue  # An empty line, as most files have one at their end.
        if len(cells) != len(names):
            raise DataError(
                f"Line {reader.line_num}: {len(cells)} values for {len(names)} columns."
            )
        count += 1
        _count(count)
        yield dict(zip(names, cells, strict=True))


def _count(rows: int) -> None:
    if rows > MAX_ROWS:
        raise DataError(f"The data file has more than {MAX_ROWS:,} rows.")


def _check_names(names: Sequence[str], place: str) -> None:
    if len(names) > MAX_COLUMNS:
        raise DataError(f"{place}: more than {MAX_COLUMNS} columns.")
    seen: set[str] = set()
    for number, name in enumerate(names, 1):
        if not is_name(name):
            raise DataError(
                f"{place}, column {number}: “{name[:80]}” is no name of a variable (letters,"
                " digits, _, - and . only)."
            )
        if name in seen:
            raise DataError(f"{place}, column {number}: “{name}” stands there twice.")
        seen.add(name)
