"""What is expected of a reply, with values for the names in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from playground.engine.composing import Scope
from playground.variables import Substitution


def expected(expectations: Any, scope: Scope, moment: datetime) -> tuple[Any, Substitution]:
    """Expectations with the values that their names stand for, and which names these are.

    They are judged again whenever somebody looks, so the values are kept with the run, and of
    a secret nothing but its name can be: `why_not` says so. Raises `VariableError`.
    """
    work = Substitution(scope.find, moment=moment)
    return work.json(expectations).kept, work


def why_not(secrets: Sequence[str]) -> str:
    """Why expectations with these secrets are none, as a sentence; "" where there are none."""
    if not secrets:
        return ""
    names = ", ".join(f"“{name}”" for name in secrets)
    return f"No secret can be a part of what is expected, because that is kept: {names}."
