"""Tags of all templates: icons, and the URLs of scripts and style sheets."""

from __future__ import annotations

import re

from django import template
from django.template.base import Parser, TextNode, Token
from django.templatetags.static import static

from playground.context_processors import assets_built

register = template.Library()

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
