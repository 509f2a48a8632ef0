"""Tags of all templates: icons, marks of agents, and the URLs of scripts and style sheets."""

from __future__ import annotations

import re
import zlib

from django import template
from django.template.base import Parser, TextNode, Token
from django.templatetags.static import static

from playground.models.row_problems import row_problems
from playground.reference.explanations import kind_reference as event_kind_reference
from playground.reference.explanations import meaning as meaning_of
from playground.site.context_processors import assets_built

register = template.Library()

#: The hues of marks, `data-hue="0"` to `"6"` in static/css/sidebar.css.
HUES = 7
_ICON = re.compile(r"""(["'])([a-z]+(?:-[a-z]+)*)\1""")


@register.tag
def icon(_: Parser, token: Token) -> TextNode:
    """Draw an icon of `shell/icons.html` by its name, for the eye only: `{% icon "plus" %}`.

    Its name is a literal, so it is text of the template. Raises `TemplateSyntaxError` for
    anything else.
    """
    _name, *arguments = token.split_contents()
    found = _ICON.fullmatch(" ".join(arguments))
    if found is None:
        raise template.TemplateSyntaxError(f"An icon has one name, a literal: {token.contents!r}")
    return TextNode(f'<svg class="icon" aria-hidden="true"><use href="#i-{found[2]}"/></svg>')


@register.simple_tag
def asset(name: str, source: str = "") -> str:
    """Return the URL of a script or style sheet, as it was built: `{% asset "app.js" %}`.

    Where nothing was built, return that of its `source` in `static/`; by default the file of the
    same name in `css/` or `js/`.
    """
    if assets_built():
        return static(f"build/{name}")
    return static(source or f"{name.rpartition('.')[2]}/{name}")


@register.simple_tag
def meaning(schema: str, pointer: str) -> str:
    """Return the sentence about a name of a request: `{% meaning "nlweb/ask-request" "/query" %}`.

    The latest version of the protocol counts.
    """
    protocol, _, name = schema.partition("/")
    return meaning_of(protocol, name, pointer)


register.filter(row_problems)


@register.filter
def kind_reference(kind: str) -> str:
    """Return the reference of the explanation of an event kind or frame kind."""
    return event_kind_reference(kind)


@register.filter
def initials(name: str) -> str:
    """Return one or two letters for the mark of an agent: "Demo agent" is "DA"."""
    words = re.findall(r"\w+", name)
    return "".join(word[0] for word in words[:2]).upper() or "?"


@register.filter
def hue(name: str) -> int:
    """Return the number of the hue of an agent's mark: the same for the same name."""
    return zlib.crc32(name.encode()) % HUES
