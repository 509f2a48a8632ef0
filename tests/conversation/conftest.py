"""Live messages and entries of these tests are rendered twice, see `compare_with_django`."""

from __future__ import annotations

import pytest

from tests.support.compiled_templates import compare_with_django


@pytest.fixture(autouse=True)
def compiled_names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the compiled templates that the test has used."""
    return compare_with_django(monkeypatch)
