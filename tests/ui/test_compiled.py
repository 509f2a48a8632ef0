"""Compiled templates write what Django writes; nothing that an agent sends becomes markup."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.template import engines
from django.urls import NoReverseMatch, set_script_prefix
from django.utils.safestring import SafeString  # noqa: TID251 -- the type
from hypothesis import given
from hypothesis import strategies as st

from playground.ui.compiled import compile_template


class SilentError(ObjectDoesNotExist, AttributeError):
    """What a related object raises that does not exist."""


class Person:
    name = "Ana & <b>"
    age = 41

    def greet(self) -> str:
        return "Hi <i>"

    @property
    def partner(self) -> Any:
        raise SilentError

    def delete(self) -> str:
        raise AssertionError

    delete.alters_data = True  # type: ignore[attr-defined]


CONTEXT: dict[str, Any] = {
    "text": "\"><script>'&",
    "safe": SafeString("<b>ok</b>"),
    "none": None,
    "zero": 0,
    "many": 1234567,
    "ratio": 0.5,
    "yes": True,
    "numbers": [3, 1, 2],
    "pairs": [("a", "<1>"), ("b", 2)],
    "empty": [],
    "nested": {"key": {"1": "one"}, "items": "hidden"},
    "person": Person(),
    "lazily": lambda: "<called>",
    "minus": -1,
    "id": UUID("f8a1d1cc-3c55-4d31-9c5e-0a6d0b1f2a3b"),
    "slash": "a/b c%41",
    "at": datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
    "part": "site/icons.html",
}

#: Templates that write the same.
TEMPLATES = (
    "plain text, {{ text }}, {{ safe }}, {{ none }}, {{ missing }}, {{ missing.member }}",
    "{{ zero }} {{ many }} {{ ratio }} {{ yes }} {{ at }} {{ at|date:'c' }}",
    "{{ person.name }} {{ person.age }} {{ person.greet }} {{ person.nothing }} {{ lazily }}",
    "[{{ person.partner }}] [{{ person.delete }}]",
    "{{ nested.key.1 }} {{ numbers.0 }} {{ numbers.9 }} {{ nested.items }} {{ text.0 }}",
    "{{ text|default:'x' }} {{ none|default:'<x>' }} {{ none|default:text }} {{ safe|lower }}",
    "{{ text|truncatechars:4 }} {{ numbers|length }} "
    "{{ numbers|join:text }} {{ pairs|slice:':1' }}",
    "{{ zero|pluralize }} {{ zero|yesno:'a,b' }} {{ text|add:safe }} {{ safe|add:text }}",
    "{% if text and not none %}a{% elif zero %}b{% else %}c{% endif %}",
    "{% if missing %}a{% elif missing.member or zero %}b"
    "{% endif %}{% if missing is None %}c{% endif %}",
    "{% if many > 3 and ratio < 1 %}a{% endif %}{% if text < 3 %}b{% endif %}",
    "{% if 3 in numbers %}a{% endif %}{% if 3 not in none %}b"
    "{% endif %}{% if zero == 0 %}c{% endif %}",
    "{% if text != 'x' %}a{% endif %}{% if yes is True %}b"
    "{% endif %}{% if none is not None %}c{% endif %}",
    "{% for n in numbers %}{{ n }}{% if not forloop.last %}, {% endif %}{% endfor %}",
    "{% for n in numbers reversed %}{{ forloop.counter }}/"
    "{{ forloop.revcounter0 }}:{{ n }} {% endfor %}",
    "{% for a, b in pairs %}{{ a }}={{ b }}{{ forloop.first }}{% endfor %}{{ a }}",
    "{% for n in empty %}x{% empty %}none{% endfor %}{% for n in missing %}x{% endfor %}",
    "{% for n in numbers %}{% for a, b in pairs %}"
    "{{ forloop.parentloop.counter }}{{ n }}{{ a }}{% endfor %}{% endfor %}",
    "{% for key, value in nested.key.items %}{{ key }}{{ value }}{% endfor %}",
    "{% for line in numbers %}{% with first=line nodes=text %}{{ first }}{% endwith %}{% endfor %}",
    "{% with n=numbers.1 t=text %}{{ n }}{{ t }}{% with n=5 %}"
    "{{ n }}{% endwith %}{{ n }}{% endwith %}{{ n }}",
    "{% url 'history' %} {% url 'history' as page %}"
    "{{ page }}|{% url 'no-such' as page %}{{ page }}|",
    "{% url 'run' 'f8a1d1cc-3c55-4d31-9c5e-0a6d0b1f2a3b' as page %}"
    "{% if page %}{{ page }}{% endif %}",
    "{% url 'run-picture' id %} {% url 'run-picture' '%s' as page %}{{ page }}"
    "{% url 'run-action' id zero many zero %} {% url 'run-action' id many zero '7' %}",
    "{% url 'run-action' id minus zero zero as page %}{{ page }}"
    "{% url 'run-action' id yes zero zero as page %}{{ page }}"
    "{% url 'run-picture' zero as page %}{{ page }}{% url 'run-picture' id id as page %}{{ page }}",
    "{% url 'collection' slash as page %}{{ page }}{% url 'collection' many %}"
    "{% url 'collection' slug=text as page %}{{ page }}{% url 'run' pk=id %}",
    "{% if zero %}{% url 'history' as page %}{% else %}{% url 'no-such' as page %}{% endif %}"
    "{% if text %}{% url 'history' as there %}{% endif %}[{{ page }}][{{ there }}]",
    "{% if text %}{% url 'history' as page %}{% else %}{% url 'no-such' as page %}{% endif %}"
    "[{{ page }}]",
    "{% if zero %}{% url 'history' as text %}{% endif %}{{ text }}",
    "{% for n in numbers %}{% if n == 1 %}{% url 'history' as page %}{% endif %}{{ n }}{{ page }}"
    "{% endfor %}{{ page }}",
    "{% with n=1 %}{% url 'history' as phase %}{% endwith %}"
    "{% include 'conversation/status.html#phase' %}{% url 'history' as phase %}"
    "{% include 'conversation/status.html#phase' %}",
    "{% icon 'warning' %}{% asset 'site/app.js' %}"
    "{% comment %}{{ no.thing }}{% endcomment %}{# no #}",
    "{% include 'conversation/status.html#phase' with phase=text metrics=none %}",
    "{% for phase in numbers %}{% include 'conversation/status.html#phase' %}{% endfor %}",
    "{% include 'conversation/status.html#phase' with phase=text only %}",
    "{% partialdef part %}not here{% endpartialdef %}{% csrf_token %}{% load i18n %}",
)


#: What cannot be compiled is an error at once, and never another text.
REFUSED = (
    "{% cycle 'a' 'b' %}",
    "{% autoescape off %}{{ text }}{% endautoescape %}",
    "{% spaceless %}<p> </p>{% endspaceless %}",
    "{% asset 'site/app.js' as url %}{{ url }}",
    "{% if text %}{% debug %}{% endif %}",
)


def both(source: str, context: dict[str, Any]) -> tuple[str, str]:
    """Return what a template writes compiled, and rendered by Django."""
    template = engines["django"].from_string(source)
    pieces: list[str] = []
    compile_template(template)(dict(context), pieces.append)
    return "".join(pieces), template.render(dict(context))


@pytest.mark.parametrize("source", TEMPLATES)
def test_the_same_as_django(source: str) -> None:
    compiled, rendered = both(source, CONTEXT)
    assert compiled == rendered


def test_urls_of_a_site_below_a_path() -> None:
    source = "{% url 'run-action' id zero many zero %}"
    at_root, _ = both(source, CONTEXT)
    set_script_prefix("/100%s/")
    try:
        compiled, rendered = both(source, CONTEXT)
    finally:
        set_script_prefix("/")
    assert compiled == rendered == f"/100%25s{at_root}"


@pytest.mark.parametrize("arguments", ["id minus zero zero", "id zero", "zero zero zero zero"])
def test_a_url_that_does_not_exist(arguments: str) -> None:
    with pytest.raises(NoReverseMatch):
        both(f"{{% url 'run-action' {arguments} %}}", CONTEXT)


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_not_compiled(source: str) -> None:
    with pytest.raises(TypeError, match="Not compiled"):
        compile_template(engines["django"].from_string(source))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_any_value(value: Any) -> None:
    """Each where a value can be: written, compared, iterated over, given to a filter."""
    source = (
        "{{ v }}{{ v.0 }}{{ v.a }}{{ v|default:'-' }}{{ v|length }}{% if v %}1{% endif %}"
        "{% if v == 1 %}2{% endif %}{% if v > 1 %}3{% endif %}{% if 'a' in v %}4{% endif %}"
        '{% with w=v %}{{ w }}{% endwith %}<a title="{{ v }}">'
    )
    compiled, rendered = both(source, {"v": value})
    assert compiled == rendered


def test_an_error_in_a_property_is_not_hidden() -> None:
    class Broken:
        @property
        def name(self) -> str:
            raise AttributeError("no such thing")

    with pytest.raises(AttributeError):
        both("{{ broken.name }}", {"broken": Broken()})
