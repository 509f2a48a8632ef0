"""Arbitrary JSON values, as hypothesis strategies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

#: What a JSON text can say once it is read: no NaN, no infinity, no halves of characters.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def values(names: Sequence[str], texts: Sequence[str] = ()) -> st.SearchStrategy[Any]:
    """JSON values in whose objects these names, and among whose strings these texts, occur."""
    words = st.sampled_from(texts) | TEXTS if texts else TEXTS
    scalars = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.just(10**400)
        | st.floats(allow_nan=False, allow_infinity=False)
        | words
    )
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | _object(names, inner), max_leaves=15
    )


def objects(names: Sequence[str], texts: Sequence[str] = ()) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects of such values."""
    return _object(names, values(names, texts))


def _object(names: Sequence[str], inner: st.SearchStrategy[Any]) -> Any:
    return st.dictionaries(st.sampled_from(names) | TEXTS, inner, max_size=6)
