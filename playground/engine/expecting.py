"""What is expected of a reply, with values for the names in it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from playground.engine.composing import Scope
from playground.variables import Substituted, substitute


def expected(expectations: Any, scope: Scope, moment: datetime) -> Substituted:
    """Expectations with the values that their names stand for: in `kept`, which is judged.

    They are judged again whenever somebody looks, so the values are kept with the run, and of
    a secret nothing but its name can be: `why_not` says so. Raises `VariableError`.
    """
    return substitute(expectations, scope.find, moment=moment)


def why_not(found: Substituted) -> str:
    """Why these cannot be expected, as a sentence; "" where they can."""
    if not found.secrets:
        return ""
    names = ", ".join(f"“{name}”" for name in found.secrets)
    return f"No secret can be a part of what is expected, because that is kept: {names}."
