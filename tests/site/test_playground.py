"""The tags of all pages: each case is a tag and what it renders."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.template import Context, Template, TemplateSyntaxError

TEMPLATES = Path(site.BASE_DIR) / "templates"
PLUS = '<svg class="icon" aria-hidden="true"><use href="#i-plus"/></svg>'


def rendered(text: str, **context: Any) -> str:
    return str(Template(text).render(Context(context)))


class TestIcon:
    @pytest.mark.parametrize(
        ("text", "html"),
        [
            ('{% icon "plus" %}', PLUS),
            ("{% icon 'plus' %}", PLUS),
            ('{% icon "plus" %}Add', f"{PLUS}Add"),
            ('{% icon "one-two" %}', PLUS.replace("plus", "one-two")),
            ('{% autoescape off %}{% icon "plus" %}{% endautoescape %}', PLUS),
            ('{% for _ in "ab" %}{% icon "plus" %}{% endfor %}', PLUS * 2),
        ],
    )
    def test_is_drawn(self, text: str, html: str) -> None:
        assert rendered(text) == html

    @pytest.mark.parametrize(
        "arguments",
        [
            "", "plus", '"plus', '"plus\'', '""', '"plus" "minus"', "name", '"plus"|upper',
            '"Plus"', '"a b"', '"<b>"', '"a&b"', "'\"'", '"-"', '"plus-"', '"plus" as drawn', '"é"',
        ],
    )  # fmt: skip
    def test_has_one_literal_name(self, arguments: str) -> None:
        with pytest.raises(TemplateSyntaxError):
            Template("{% icon " + arguments + " %}")

    def test_is_among_those_that_a_page_has(self) -> None:
        """A name that no page defines would draw nothing."""
        defined = {
            name
            for page in ("site/icons.html", "history/page.html")
            for name in re.findall(
                r'<symbol id="i-([\w-]+)"', (TEMPLATES / page).read_text("utf-8")
            )
        }
        used = {
            name
            for path in TEMPLATES.rglob("*.html")
            for name in re.findall(r"""\{% icon ["'](.*?)["'] %\}""", path.read_text("utf-8"))
        }
        assert used
        assert used <= defined

    def test_is_written_nowhere_by_hand(self) -> None:
        pages = TEMPLATES.rglob("*.html")
        assert not [path for path in pages if '<svg class="icon"' in path.read_text("utf-8")]


class TestAsset:
    @pytest.fixture
    def directory(self, settings: Any, tmp_path: Path) -> Path:
        """The directory of a playground whose front end was not built."""
        settings.BASE_DIR = tmp_path
        return tmp_path

    @pytest.fixture
    def built(self, directory: Path) -> None:
        """Its front end was built."""
        build = directory / "static" / "build" / "site"
        build.mkdir(parents=True)
        (build / "app.js").touch()

    CASES = [
        ("'a.css'", "a.css"),
        ("'site/a-b.js'", "site/a-b.js"),
        ("name", "n.css"),
        # As `{% static %}` has it: quoted for an address, then escaped for HTML.
        ("'a&b.css'", "a%26b.css"),
        ("'<\".js'", "%3C%22.js"),
    ]

    @pytest.mark.parametrize(("arguments", "path"), CASES)
    def test_is_what_was_built(self, built: None, arguments: str, path: str) -> None:
        html = rendered("{% asset " + arguments + " %}", name="n.css")
        assert html == f"{site.STATIC_URL}build/{path}"

    @pytest.mark.parametrize(("arguments", "path"), CASES)
    def test_is_its_source_where_nothing_was(
        self, directory: Path, arguments: str, path: str
    ) -> None:
        html = rendered("{% asset " + arguments + " %}", name="n.css")
        assert html == f"{site.STATIC_URL}{path}"

    def test_is_the_same_as_static(self, built: None) -> None:
        both = "{% load static %}{% asset 'a.css' %} {% static 'build/a.css' %}"
        one, other = rendered(both).split()
        assert one == other

    def test_is_escaped(self, built: None, settings: Any) -> None:
        settings.STATIC_URL = "/a&b/"
        assert rendered("{% asset 'a.css' %}") == "/a&amp;b/build/a.css"
        off = "{% autoescape off %}{% asset 'a.css' %}{% endautoescape %}"
        assert rendered(off) == "/a&b/build/a.css"

    def test_one_that_was_not_collected_is_an_error(
        self, built: None, settings: Any, tmp_path: Path
    ) -> None:
        backend = "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
        settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": backend}}
        settings.STATIC_ROOT = tmp_path
        settings.DEBUG = False
        with pytest.raises(ValueError, match=r"build/a\.css"):
            rendered("{% asset 'a.css' %}")

    def test_what_a_page_names_is_there_and_is_built(self) -> None:
        tag = re.compile(r"\{% asset '([^']+)' %\}")
        named = {
            name for path in TEMPLATES.rglob("*.html") for name in tag.findall(path.read_text())
        }
        assert all((Path(site.BASE_DIR) / "static" / name).is_file() for name in named)
        bundled = (Path(site.BASE_DIR) / "static/bundle.js").read_text()
        assert named <= set(re.findall(r'"(\w+/[\w-]+\.(?:js|css))"', bundled))


class TestAgentMark:
    @pytest.mark.parametrize(
        ("name", "letters"),
        [
            ("Demo agent", "DA"), ("Recipes", "R"), ("über-Agent 2", "ÜA"), ("  ", "?"),
            ("“x”", "X"), ("<b>", "B"),
        ],
    )  # fmt: skip
    def test_initials(self, name: str, letters: str) -> None:
        assert rendered("{{ name|initials }}", name=name) == letters

    def test_hue_is_that_of_the_name(self) -> None:
        hues = [rendered("{{ name|hue }}", name=f"Agent {number}") for number in range(60)]
        assert hues[0] == rendered("{{ name|hue }}", name="Agent 0")
        assert set(hues) == {str(number) for number in range(7)}
