"""The one place where HTML that was made elsewhere enters a page: sanitised Markdown."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString, mark_safe  # noqa: TID251 -- nh3 has cleaned it

from playground.rendering.markdown import plain, render

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    """The HTML of a Markdown text, see `playground.rendering.markdown`."""
    return mark_safe(render(text))  # noqa: S308 -- nh3 has cleaned it


@register.filter
def excerpt(text: str) -> str:
    """The beginning of a Markdown text in words; escaped like any other text."""
    return plain(text)
