"""Hypothesis strategies for data of agents."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from playground.protocols import events as ev

HOSTILE = (
    "<script>alert(1)</script>",
    '" hx-get="/x" onload="alert(1)',
    "' hx-post='/x",
    "</p></article><img src=x onerror=alert(1)>",
    "{{ 7|add:7 }}{% load x %}",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    'https://ok.example/"><script>alert(1)</script>',
    "P1DT",
    "PT" + "9" * 5000 + "M",
    "\u202e\x00\x1b[31m",
)

texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"])))
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts
)
names = st.one_of(
    texts,
    st.sampled_from(
        "@type @id type name title headline url image thumbnailUrl description text abstract site "
        "score schema_object offers price priceCurrency aggregateRating ratingValue reviewCount "
        "recipeIngredient recipeInstructions itemListElement prepTime totalTime nutrition address "
        "step supply tool video actor wordCount author position duration @value location status "
        "step contentUrl".split()
    ),
)
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(names, inner, max_size=6),
    max_leaves=25,
)
types = st.sampled_from(
    "Recipe Restaurant Product Movie Article HowTo HowToStep SearchSummary Summary Thing".split()
)
items = json_values | st.builds(
    lambda kind, rest: {**rest, "@type": kind},
    types | st.lists(types | scalars, max_size=3) | json_values,
    st.dictionaries(names, json_values, max_size=8),
)
indexes = st.none() | st.integers()
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
objects = st.dictionaries(names, json_values, max_size=4)
questions = st.builds(
    ev.Question,
    id=texts,
    text=texts,
    type=texts,
    options=st.lists(texts, max_size=3).map(tuple),
    default=json_values,
)

events: st.SearchStrategy[ev.Event] = st.one_of(
    st.builds(ev.Result, seq=st.just(7), item=items, index=indexes),
    st.builds(
        ev.Text, seq=st.just(7), text=texts, delta=st.booleans(), kind=texts, raw=json_values
    ),
    st.builds(
        ev.Elicitation,
        seq=st.just(7),
        text=texts,
        questions=st.lists(questions, max_size=3).map(tuple),
        raw=json_values,
    ),
    st.builds(
        ev.Promise,
        seq=st.just(7),
        token=texts,
        estimated_time=numbers,
        message=texts,
        progress=numbers,
        raw=json_values,
    ),
    st.builds(
        ev.Failure,
        seq=st.just(7),
        code=texts,
        message=texts,
        details=json_values,
        raw=json_values,
    ),
    st.builds(ev.Note, seq=st.just(7), name=texts | st.just("redirect"), data=json_values),
    st.builds(ev.Unknown, seq=st.just(7), name=texts, data=json_values, reason=texts),
    st.builds(ev.Started, seq=st.just(7), meta=objects),
    st.builds(ev.Completed, seq=st.just(7), meta=objects),
)
