"""Whatever is rendered by a compiled template is rendered by Django as well, and is the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from django.template.loader import get_template
from django.utils.safestring import SafeString  # noqa: TID251 -- the type

from playground.ui import compiled


def compare_with_django(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Compare all HTML of compiled templates from now on; return their names as they are used."""
    render, used = compiled.render, list[str]()

    def compared(name: str, context: Mapping[str, Any]) -> str:
        html = render(name, context)
        assert html == get_template(name).render(dict(context))
        assert isinstance(html, SafeString)
        used.append(name)
        return html

    monkeypatch.setattr(compiled, "render", compared)
    return used
