"""Values of variables that users write: `name=value` lines, and data files for collection runs.

A data file is CSV (RFC 4180, with a header) or JSON. A row has the values of one iteration:
`city,days` above `Oslo,3`, or `[{"city": "Oslo", "days": 3}]`. Values of CSV are text, those of
JSON any value.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from playground.protocols import json_decoder, lenient
from playground.variables.names import is_name

#: Limits on the lines of a text of assignments, and on its characters.
MAX_LINES, MAX_TEXT = 200, 100_000

#: Limits on the bytes of a data file, on its rows, and on the columns of a row.
MAX_BYTES, MAX_ROWS, MAX_COLUMNS = 5 * 1024 * 1024, 10_000, 200

#: Limit on the nesting of JSON.
MAX_DEPTH = 50
Row = dict[str, Any]


class AssignmentError(ValueError):
    """A text that is not name=value. The message quotes nothing, as it may be a secret."""


def parse_assignment(text: str) -> tuple[str, Any]:
    """Return a name, and its value: JSON, or else text. Raise `AssignmentError`."""
    name, equals, value = text.partition("=")
    if not equals or not is_name(name):
        raise AssignmentError("expected name=value")
    return name, lenient.decode(value, value)


def parse_assignments(text: str) -> dict[str, Any]:
    """Return the values of a text with one a line; empty lines are skipped, a later one wins.

    Raise `AssignmentError`, a sentence with the line.
    """
    found: dict[str, Any] = {}
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise AssignmentError(f"Too many lines. The limit is {MAX_LINES}.")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            name, value = parse_assignment(line.lstrip())
        except AssignmentError as error:
            raise AssignmentError(f"Line {number}: {error}.") from None
        found[name] = value
    return found


class DataError(ValueError):
    """A data file that cannot be read; the message has the location."""


def read_rows(data: bytes, name: str = "") -> list[Row]:
    """Return the rows of a file in the format of its ending, or else of its first character.

    Raise `DataError`, a sentence with the location.
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
    rows = _json_rows(text) if is_json else _read_csv(text)
    if not rows:
        raise DataError("The data file has no rows.")
    return rows


def _json_rows(text: str) -> list[Row]:
    if json_decoder.exceeds_depth(text, MAX_DEPTH):
        raise DataError(f"The JSON is nested more than {MAX_DEPTH} levels deep.")
    try:
        value = json_decoder.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise DataError(f"Invalid JSON: {json_decoder.describe_error(error)} ({place}).") from None
    except ValueError:
        raise DataError("The JSON contains a number with too many digits.") from None
    if not isinstance(value, list):
        raise DataError("Expected a JSON array with one object per iteration.")
    _check_count(len(value))
    for number, row in enumerate(value, 1):
        if not isinstance(row, dict):
            raise DataError(f"Row {number}: not an object.")
        _check_names(list(row), f"Row {number}")
    return value


def _read_csv(text: str) -> list[Row]:
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(f"Line {line}: unexpected null byte.")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return list(_csv_rows(reader))
    except csv.Error as error:
        raise DataError(f"Line {reader.line_num}: {error}.") from None


def _csv_rows(reader: Any) -> Iterator[Row]:
    names: Sequence[str] = [name.strip() for name in next(reader, [])]
    if not names:
        raise DataError("Line 1: missing header with the column names.")
    _check_names(names, "Line 1")
    count = 0
    for cells in reader:
        if not cells:
            continue  # An empty line: most files end with one.
        if len(cells) != len(names):
            raise DataError(
                f"Line {reader.line_num}: {len(cells)} values for {len(names)} columns."
            )
        count += 1
        _check_count(count)
        yield dict(zip(names, cells, strict=True))


def _check_count(rows: int) -> None:
    if rows > MAX_ROWS:
        raise DataError(f"The data file has more than {MAX_ROWS:,} rows.")


def _check_names(names: Sequence[str], place: str) -> None:
    if len(names) > MAX_COLUMNS:
        raise DataError(f"{place}: more than {MAX_COLUMNS} columns.")
    used: set[str] = set()
    for number, name in enumerate(names, 1):
        if not is_name(name):
            raise DataError(
                f"{place}, column {number}: “{name[:80]}” is not a valid variable name "
                "(letters, digits, _, - and . only)."
            )
        if name in used:
            raise DataError(f"{place}, column {number}: duplicate name “{name}”.")
        used.add(name)
