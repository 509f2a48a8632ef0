"""Markdown as HTML: what is allowed, and what is removed."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from playground.reference.explanations import names_of
from playground.ui.markdown import MAX_TEXT, plain, render
from tests.support.markup import Element, read

LINK = {"target": "_blank", "rel": "noopener noreferrer nofollow"}


def elements(html: str) -> list[Element]:
    return read(html).elements


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", "<p>plain</p>\n"),
        ("*a* **b** ~~c~~ `d`", "<p><em>a</em> <strong>b</strong> <s>c</s> <code>d</code></p>\n"),
        ("# One\n\n## Two", "<h2>One</h2>\n<h3>Two</h3>\n"),
        ("###### Six", "<h6>Six</h6>\n"),
        ("3. three", '<ol start="3">\n<li>three</li>\n</ol>\n'),
        ("```json\n{\"a\": \"<b>\"}\n```", '<pre><code>{"a": "&lt;b&gt;"}\n</code></pre>\n'),
        ("", ""),
    ],
)  # fmt: skip
def test_what_it_becomes(text: str, html: str) -> None:
    assert render(text) == html


def test_names_in_inline_code_offer_their_explanation() -> None:
    names = names_of("nlweb", "0.55")
    text = "`query.site` `site` `_meta.response_type` `recipes.example` `xyz`\n\n```\nsite\n```"
    found = elements(render(text, reference_of=names))
    assert [each.attributes for each in found if each.tag == "code"] == [
        {"data-explain": "nlweb/0.55/ask-request#/query/site"},
        {"data-explain": "nlweb/0.55/ask-request#/query/site"},
        {"data-explain": "nlweb/0.55/response#/_meta/response_type"},
        {},
        {},
        {},
    ]
    assert names_of("nlweb", "9.9")("site") == ""


@pytest.mark.parametrize(
    "text",
    [
        '<code data-explain="x/1/y#/z">site</code>',
        '`" data-explain="x/1/y#/z`',
        '`site" onclick="alert(1)`',
        "`query/../../x`",
        '[x](https://a.example "data-explain=x")',
        "`" + "a." * 5000 + "a`",
    ],
)
def test_a_text_chooses_no_explanation(text: str) -> None:
    names = names_of("nlweb", "0.55")
    for element in elements(render(text, reference_of=names)):
        assert not {"data-explain", "onclick"} & set(element.attributes)


def test_a_link_to_the_reference() -> None:
    link = '<a href="/reference/" target="_blank" rel="noopener noreferrer nofollow">x</a>'
    assert render("[x](/reference/)", origins=True) == f"<p>{link}</p>\n"


def test_a_table() -> None:
    assert [each.tag for each in elements(render("|a|\n|-|\n|1|"))] == [
        "table", "thead", "tr", "th", "tbody", "tr", "td",
    ]  # fmt: skip


#: Attacks in a file from somebody else.
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src='https://a.example'></iframe>",
    "<style>*{display:none}</style>",
    "<form action='/collections/mine/deletion/' method='post'><button>ok</button></form>",
    "<a href='javascript:alert(1)'>x</a>",
    "<div hx-get='/x' hx-trigger='load'>x</div>",
    "<!-- --><b>x</b>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:msgbox)",
    "[x](file:///etc/passwd)",
    "[x](ftp://a.example/)",
    "[x](/collections/mine/deletion/)",
    "[x](//a.example/)",
    "[x](?q=1)",
    "[x](#main)",
    "[x](https://ada:pw@a.example/)",
    "[x](https://a.example\\@b.example/)",
    "[x](<https://a.example/ onclick=1>)",
    '[x](https://a.example/ "\\" onmouseover=\\"alert(1)")',
    "[x][r]\n\n[r]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "<ada@a.example>",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    "![x](/logout/)",
    '![x" onerror="alert(1)](https://a.example/p.png)',
    '![x](https://a.example/p.png "\\" onload=\\"alert(1)")',
    "[![x](https://a.example/p.png)](javascript:alert(1))",
    "`<script>alert(1)</script>`",
    "```html onclick=alert(1)\n<script>alert(1)</script>\n```",
    "|<script>|\n|-|\n|<img src=x onerror=alert(1)>|",
    "# <script>alert(1)</script>",
    "> " * 500 + "x",
    "- " * 500 + "x",
    "[" * 3000,
    "*a_" * 2000,
    "![" * 2000,
    "\x00<script>\x00",
    "\ud800 half a pair",
]
ALLOWED = {
    "a": {"href", "title", "target", "rel"},
    "ol": {"start"},
}
NEVER = {"script", "style", "iframe", "form", "button", "svg", "div", "input", "h1"}


def check_harmless(html: str) -> None:
    for element in elements(html):
        assert element.tag not in NEVER
        assert set(element.attributes) <= ALLOWED.get(element.tag, set()), element
        for name in ("href", "src"):
            address = element.attributes.get(name)
            assert address is None or address.lower().startswith(("http://", "https://"))
            assert address is None or "@" not in address
        if element.tag == "a":
            assert {name: element.attributes[name] for name in LINK} == LINK


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_runs_or_leads_elsewhere(text: str) -> None:
    check_harmless(render(text))


@given(st.text(alphabet=st.sampled_from(list("<>[]()!*_`~#-|\\\"'&;:/@ \n\tahref")), max_size=80))
def test_nor_in_any_other_text(text: str) -> None:
    check_harmless(render(text))


def test_links_to_http_and_https_stay() -> None:
    html = render("[a](https://a.example/x?y=1&z) [b](http://b.example) <https://c.example>")
    found = [each.attributes["href"] for each in elements(html) if each.tag == "a"]
    assert found == ["https://a.example/x?y=1&z", "http://b.example", "https://c.example"]


def test_an_image_is_a_link_to_it() -> None:
    assert not any(each.tag == "img" for each in elements(render("![A](https://a.example/p.png)")))
    (link,) = elements(render("![A *bowl*](https://a.example/p.png)"))[1:]
    assert link.attributes["href"] == "https://a.example/p.png"
    assert "noreferrer" in (link.attributes["rel"] or "")
    (outer,) = elements(render("[![](http://b.example/q.png)](http://c.example)"))[1:]
    assert outer.attributes["href"] == "http://c.example"
    assert render("![A](http://u:p@a.example/p.png)") == "<p>A</p>\n"


def test_a_text_without_end_is_cut_and_says_so() -> None:
    html = render("a" * (MAX_TEXT + 1))
    assert html == f"<p>{'a' * MAX_TEXT}</p>\n<p>…</p>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        (
            "# Title\n\nSome *words*\nand [a link](https://a.example).",
            "Title Some words and a link.",
        ),
        ("<b>x</b>", "<b>x</b>"),
        ("```\ncode\n```\n\n- one\n- two", "code one two"),
        ("![picture](https://a.example/p.png) after", "picture after"),
        ("word " * 100, ("word " * 100)[:159].rstrip() + "…"),
    ],
)
def test_an_excerpt_is_words_only(text: str, words: str) -> None:
    assert plain(text) == words


def test_the_filters() -> None:
    source = "{{ text|markdown }}|{{ text|excerpt }}"
    html = Template(source).render(Context({"text": "*a* <b>"}))
    assert html == "<p><em>a</em> &lt;b&gt;</p>\n|a &lt;b&gt;"
