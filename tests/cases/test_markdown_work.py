"""Markdown that is meant to take long: its work is linear, bounded for a page, and done once."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from playground.base.limits import IS_GONE, PageBudget, page_budget
from playground.models import Collection, Share
from playground.site.middleware import response_headers
from playground.ui import markdown
from playground.ui.markdown import plain, render
from tests.support.collections import saved

#: Texts that are repeated.
REPEATED = [
    "![", "[", "![a](", "[a](b", "[[]", "[a][", "[a](<", "[a](b '", "[a]: b\n", "[a]: b '", "![]((",
    "**", "*a ", "_a ", "*a_ ", "a**b", "*a**b", "~~a", "`", "`a``b", "<", "<a", "<!--",
    "<http://a>", "&", "&#1", "&amp", ">", "> a\n", "- a\n", "1) a\n", "* a\n\n", "- - - a\n", "\\",
    "\\\n", "a\n",
    "|a|\n|-|\n", "```\n", "# ", "a\n===\n", "\n", "\t-", "<![CDATA[",
]  # fmt: skip


def table(columns: int, rows: int) -> str:
    return "|a" * columns + "|\n" + "|-" * columns + "|\n" + "a\n" * rows + "\n"


#: Texts of a size, by name.
FAMILIES: dict[str, Any] = {
    **{text: lambda n, text=text: text * (n // len(text)) for text in REPEATED},
    "open brackets before closed ones": lambda n: "[" + "[a]" * (n // 3),
    "open brackets in text": lambda n: ("[" + "a *b* " * 20) * (n // 121),
    "nested emphasis": lambda n: "*a" * (n // 4) + "a*" * (n // 4),
    "one table with short rows": lambda n: table(n // 8, n // 4),
    "many tables with short rows": lambda n: table(16, 8) * (n // 84),
    "backticks of all lengths": lambda n: "".join(
        "`" * k + " " for k in range(int((2 * n) ** 0.5))
    ),
    "lists that nest": lambda n: "".join("  " * k + "- a\n" for k in range(int(n**0.5))),
}


def html(text: str) -> str:
    for kept in (markdown._html_of_short, markdown._html_of_long):
        kept.cache_clear()
    return render(text)


def calls(text: str) -> int:
    """How many functions are called to render a text: the same on every machine."""
    count = 0

    def profile(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        html(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("family", FAMILIES)
def test_the_work_is_linear(family: str) -> None:
    text = FAMILIES[family]
    small, large = calls(text(500)), calls(text(2_000))
    assert large < 5 * small + 2_000
    assert large < 170 * 2_000


@pytest.mark.parametrize("family", FAMILIES)
def test_so_is_the_html(family: str) -> None:
    assert len(html(FAMILIES[family](4_000))) < 20 * 4_000


def test_what_people_write_is_not_affected() -> None:
    nested = "[![a *b* [c]](https://a.example/b.png)](https://a.example/)"
    assert html(nested).count("<a ") == 1
    assert html("- a\n  - b\n    - c\n      - d").count("<li>") == 4
    assert html("a|b|c\n-|-|-\n1|2|3\n4\n").count("<td>") == 6
    assert html("[a [b [c] d] e](/demo/)").count("<a ") == 1


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were parsed, with an empty cache."""
    html("")
    found: list[str] = []
    original = markdown._PARSER.parse
    monkeypatch.setattr(
        markdown._PARSER, "parse", lambda text, env=None: found.append(text) or original(text, env)
    )
    return found


def test_a_text_is_rendered_once(parsed: list[str]) -> None:
    assert render("*a*") == render("*a*")
    assert render("*a*", origins=True) == render("*a*", origins=True)
    assert parsed == ["*a*", "*a*"]


def test_a_page_renders_so_much(parsed: list[str]) -> None:
    collection = Collection.objects.create(name="a", description="*first*")
    hostile = "<script>alert(1)</script> abcdefg " * 1_400
    for number in range(20):
        saved(collection, f"r{number}", notes=f"{number} {hostile}")
    share = Share.objects.create(collection=collection)
    page = Client().get(share.get_absolute_url())
    assert page.status_code == 200
    assert sum(map(len, parsed)) <= PageBudget(bool).characters
    # What is left is shown as it was written, escaped.
    text = page.content.decode()
    assert text.count("<p>19 &lt;script&gt;alert(1)") == 1
    assert "<script>alert" not in text
    # Each view renders more, until all of it is kept.
    before = len(parsed)
    Client().get(share.get_absolute_url())
    assert len(parsed) > before


def test_it_ends_when_the_reader_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    html("")
    blocks: list[str] = []
    original = markdown._INLINE.inline.parse

    def parse(text: str, *rest: Any) -> None:
        blocks.append(text)
        original(text, *rest)

    monkeypatch.setattr(markdown._INLINE.inline, "parse", parse)
    token = page_budget.set(PageBudget(lambda: len(blocks) >= 3))
    try:
        render("a\n\n" * 1_000)
        render("b\n\n" * 1_000)
        assert blocks == ["a"] * 3
        assert plain("*an excerpt*") == "an excerpt"
    finally:
        page_budget.reset(token)
    # Nothing of that is kept.
    assert render("a\n\n" * 1_000).count("<p>") == 1_000


def test_a_page_knows_its_reader() -> None:
    found: list[PageBudget | None] = []

    def view(_: Any) -> HttpResponse:
        found.append(page_budget.get())
        return HttpResponse()

    request: Any = RequestFactory().get("/")
    response_headers(view)(request)
    request.scope = {"extensions": {IS_GONE: lambda: True}}
    response_headers(view)(request)
    assert [budget and budget.is_gone() for budget in found] == [False, True]
    assert page_budget.get() is None
