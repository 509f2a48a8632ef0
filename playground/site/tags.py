"""Tags and filters of all templates: icons, marks of agents, URLs of assets, Markdown, pictures."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import Any

from django import template
from django.template.base import Parser, TextNode, Token
from django.template.context import Context
from django.templatetags.static import static
from django.utils.safestring import SafeString, mark_safe  # noqa: TID251 -- nh3 has cleaned it

from playground.conversation.media import picture_link
from playground.conversation.messages import readable_value
from playground.conversation.status import (
    protocol_label,
    result_label,
    run_metrics,
    status_label,
    target_label,
)
from playground.conversation.transcript import answer_verb, answers, declined, undelivered
from playground.models.columns import row_problems
from playground.protocols.origins import origin_of
from playground.reference.explanations import kind_reference, names_of
from playground.site.sidebar import assets_built
from playground.ui.formatting import ago, kind_label, milliseconds, pretty, size, value_text
from playground.ui.markdown import plain, render

register = template.Library()

#: The hues of marks, `data-hue="0"` to `"6"` in static/site/sidebar.css.
HUES = 7
_ICON = re.compile(r"""(["'])([a-z]+(?:-[a-z]+)*)\1""")


@register.tag
def icon(_: Parser, token: Token) -> TextNode:
    """Draw an icon of `site/icons.html` by its name, for the eye only: `{% icon "plus" %}`.

    Its name is a literal, so it is text of the template. Raises `TemplateSyntaxError` for
    anything else.
    """
    _name, *arguments = token.split_contents()
    found = _ICON.fullmatch(" ".join(arguments))
    if found is None:
        raise template.TemplateSyntaxError(f"An icon has one name, a literal: {token.contents!r}")
    return TextNode(f'<svg class="icon" aria-hidden="true"><use href="#i-{found[2]}"/></svg>')


@register.simple_tag
def asset(name: str) -> str:
    """Return the URL of a script or style sheet of `static/`: `{% asset "site/app.js" %}`.

    Where the front end was built, it is that of the file in `static/build/`.
    """
    return static(f"build/{name}" if assets_built() else name)


#: Functions of other modules that templates use as filters, by their own names.
_FILTERS: tuple[Callable[..., Any], ...] = (
    *(ago, kind_label, milliseconds, pretty, size, value_text),
    *(protocol_label, result_label, run_metrics, status_label, target_label),
    *(answer_verb, answers, declined, undelivered, readable_value),
    kind_reference,
    row_problems,
)
for _filter in _FILTERS:
    register.filter(_filter)


@register.filter
def initials(name: str) -> str:
    """Return one or two letters for the mark of an agent: "Demo agent" is "DA"."""
    words = re.findall(r"\w+", name)
    return "".join(word[0] for word in words[:2]).upper() or "?"


@register.filter
def hue(name: str) -> int:
    """Return the number of the hue of an agent's mark: the same for the same name."""
    return zlib.crc32(name.encode()) % HUES


@register.filter
def markdown(text: str) -> SafeString:
    """Return the HTML of a Markdown text, see `playground.ui.markdown`."""
    return mark_safe(render(text))  # noqa: S308 -- nh3 has cleaned it


@register.filter
def markdown_with_origins(text: str) -> SafeString:
    """Return the HTML of a Markdown text, each link followed by the host that it leads to."""
    return mark_safe(render(text, origins=True))  # noqa: S308 -- nh3 has cleaned it


@register.filter
def markdown_with_names(text: str, names: tuple[str, str] | None) -> SafeString:
    """Return the same; names of a protocol and version in inline code offer their explanation."""
    html = render(text, origins=True, reference_of=names_of(*names) if names else None)
    return mark_safe(html)  # noqa: S308 -- nh3 has cleaned it


@register.filter
def excerpt(text: str) -> str:
    """Return the beginning of a Markdown text as plain text; escaped like any other text."""
    return plain(text)


@register.inclusion_tag("conversation/media.html#picture", takes_context=True)
def picture(context: Context, url: str, title: str = "", shape: str = "card") -> dict[str, Any]:
    """Show a picture of the context's `run`: `{% picture url title %}`.

    `title` names its subject; `shape` is "card", or "message" for a part of a message.
    """
    run, readonly = context["run"], bool(context.get("readonly"))
    link = picture_link(url, run.pk, readonly=readonly)
    return {"picture": link, "run": run, "title": title, "shape": shape}


register.filter("origin", origin_of)
