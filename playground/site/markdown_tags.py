"""Filters for Markdown: the only place where HTML from elsewhere enters a page, sanitised."""

from __future__ import annotations

import operator
from functools import lru_cache

from django import template
from django.utils.safestring import SafeString, mark_safe  # noqa: TID251 -- nh3 has cleaned it

from playground.reference.explanations import ProtocolNames
from playground.ui.markdown import plain, render

register = template.Library()
#: Returns one function for equal names: the HTML of a text is kept for it.
_reference_of = lru_cache(operator.attrgetter("reference_of"))


@register.filter
def markdown(text: str) -> SafeString:
    """Return the HTML of a Markdown text, see `playground.ui.markdown`."""
    return mark_safe(render(text))  # noqa: S308 -- nh3 has cleaned it


@register.filter
def markdown_with_origins(text: str) -> SafeString:
    """Return the HTML of a Markdown text, each link followed by the host that it leads to."""
    return mark_safe(render(text, origins=True))  # noqa: S308 -- nh3 has cleaned it


@register.filter
def markdown_with_names(text: str, names: ProtocolNames | None) -> SafeString:
    """Return the same, and names of a protocol in inline code offer their explanation."""
    html = render(text, origins=True, reference_of=_reference_of(names) if names else None)
    return mark_safe(html)  # noqa: S308 -- nh3 has cleaned it


@register.filter
def excerpt(text: str) -> str:
    """Return the beginning of a Markdown text as plain text; escaped like any other text."""
    return plain(text)
