"""Every text that a user of the playground can see, with its place.

`python -m tests.strings` prints `path:line: text`. With `--refused` it prints only the texts with a
phrase that the glossary says not to use; tests/test_wording.py refuses them, except those of
tests/allowed_strings.txt. `--allow` writes that file.

Of JavaScript and Python, every literal is listed that looks like words, also one that only programs
read.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = Path(__file__).with_name("allowed_strings.txt")
GLOSSARY = ROOT / "docs" / "glossary.md"


class UserText(NamedTuple):
    """A text and its place."""

    path: str
    line: int
    text: str


@functools.cache
def user_texts() -> tuple[UserText, ...]:
    """Return every text, by path."""
    return tuple(_user_texts())


def _user_texts() -> Iterator[UserText]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        yield from _in(path, template_texts(path.read_text()))
    for path in sorted((ROOT / "static").rglob("*.js")):
        if "build" not in path.parts:
            yield from _in(path, script_texts(path.read_text()))
    for path in sorted((ROOT / "playground").rglob("*.py")):
        if "migrations" not in path.parts:
            yield from _in(path, python_texts(path.read_text()))
    for path in sorted((ROOT / "fixtures").glob("*.json")):
        yield from _in(path, fixture_texts(path.read_text()))
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        yield from _in(path, markdown_texts(path.read_text()))


def _in(path: Path, found: Iterator[tuple[int, str]]) -> Iterator[UserText]:
    name = str(path.relative_to(ROOT))
    for line, text in found:
        if re.search("[^\\W\\d_]", text := " ".join(text.split())):
            yield UserText(name, line, text)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


#: At least two words, or a capitalised one, as labels are.
_WORDS = re.compile(r"[^\W\d_]+[’']?[^\W\d_]*[,.:;!?…)”]* +[“(]?[^\W_]|^[A-Z][a-z]{2,}[….:?!]?$")


def is_like_words(text: str) -> bool:
    """Return whether a literal reads like a label or a sentence."""
    return bool(_WORDS.search(text.strip()))


# --- templates

_TAG = re.compile(r"{%(.*?)%}|{{(.*?)}}", re.DOTALL)
_COMMENT = re.compile(r"{% comment %}.*?{% endcomment %}|{#.*?#}", re.DOTALL)
_QUOTED = re.compile(r'"([^"]*)"|\'([^\']*)\'')
_DATES = re.compile(r"\|(date|time):(\"[^\"]*\"|'[^']*')")
#: Between two texts of which one is shown.
_EITHER = re.compile(r"\s*(elif|else|empty|case)\b")
#: Tags with literals that are shown: of the others they are names.
_SHOWN = re.compile(r"\s*(include|with|firstof|cycle|\w*_text|pluralize)\b")
#: Parts of a sentence, and not a text by themselves.
_INLINE = frozenset("a abbr b bdi code em i kbd strong var wbr".split())
_ATTRIBUTES = frozenset(
    "title aria-label aria-description placeholder alt label hx-confirm".split()
)
_UNSHOWN = frozenset(["script", "style"])


class _Markup(HTMLParser):
    """Collects text nodes, a block at a time, and attributes that are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str]] = []
        self._text = ""
        self._line = 0
        self._unshown = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _INLINE:
            self.end_block()
        self._unshown += tag in _UNSHOWN
        is_button = (tag, "submit") in {(tag, value) for name, value in attrs if name == "type"}
        for name, value in attrs:
            shown = name in _ATTRIBUTES or (name == "value" and is_button and tag == "input")
            is_data = name.startswith("data-") and " " in (value or "").strip()
            if value and (shown or (is_data and is_like_words(value))):
                self.found.append((self.getpos()[0], value))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _INLINE:
            self.end_block()
        self._unshown -= tag in _UNSHOWN

    def handle_data(self, data: str) -> None:
        if self._unshown:
            return
        if not self._text.strip():
            leading = data[: len(data) - len(data.lstrip())]
            self._line = self.getpos()[0] + leading.count("\n")
        self._text += data

    def end_block(self) -> None:
        """End the text that was collected."""
        self.found.append((self._line, self._text))
        self._text = ""


def template_texts(source: str) -> Iterator[tuple[int, str]]:
    """Return the texts of a template; a variable in one is “…”, alternatives are set apart by |."""
    source = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), source)
    for found in _TAG.finditer(source):
        inner = found[1] or found[2]
        if found[2] or _SHOWN.match(inner):
            for quoted in _QUOTED.finditer(_DATES.sub("", inner)):
                if is_like_words(literal := quoted[1] or quoted[2] or ""):
                    yield _line(source, found.start()), literal

    def shown(found: re.Match[str]) -> str:
        text = "…" if found[2] else " | " if _EITHER.match(found[1]) else ""
        return text + "\n" * found[0].count("\n")

    markup = _Markup()
    markup.feed(_TAG.sub(shown, source))
    markup.close()
    markup.end_block()
    for line, text in markup.found:
        yield line, text.strip(" |\n")


# --- JavaScript

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'
        |`(?:\\.|\$\{(?:[^{}]|\{[^{}]*\})*\}|[^`\\])*`)
    |(?P<regex>(?<=[(,=:\[!&|?{};\n ])/(?![*/ ])
        (?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)""",
    re.DOTALL | re.VERBOSE,
)


def script_texts(source: str) -> Iterator[tuple[int, str]]:
    """Return the texts of a script: literals that look like words."""
    for found in _TOKEN.finditer(source):
        if not (literal := found["string"]):
            continue
        text = re.sub(r"\$\{(?:[^{}]|\{[^{}]*\})*\}", "…", literal[1:-1])
        text = re.sub(r"\\(.)", lambda escaped: "\n" if escaped[1] == "n" else escaped[1], text)
        # A text in an expression of a template literal.
        inner = re.findall(r"\$\{((?:[^{}]|\{[^{}]*\})*)\}", literal)
        texts = [
            text,
            *(each for part in inner for each in re.findall(r'"((?:\\.|[^"\\])*)"', part)),
        ]
        yield from ((_line(source, found.start()), each) for each in texts if is_like_words(each))


# --- Python


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    """Return the texts of a module: literals that look like words, without docstrings."""
    nodes = [*ast.walk(ast.parse(source))]
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if id(node) in parts:
            continue
        if isinstance(node, ast.JoinedStr):
            values = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            text = "".join(map(str, values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if is_like_words(text):
            yield node.lineno, text


# --- fixtures and pages of documentation

_FIELDS = ("name", "description", "notes")


def fixture_texts(source: str) -> Iterator[tuple[int, str]]:
    """Return the texts of a collection and of its lesson; what its agents say is data."""
    position = 0
    for item in json.loads(source):
        if not item["model"].startswith("playground."):
            continue
        for field in _FIELDS:
            if value := item["fields"].get(field):
                written = f'"{field}": {json.dumps(value, ensure_ascii=False)}'
                position = max(position, source.find(written, position))
                for paragraph in value.splitlines():
                    yield _line(source, position), paragraph
        for value in _lesson_texts(item["fields"].get("lesson") or {}):
            written = json.dumps(value, ensure_ascii=False)
            for paragraph in value.splitlines():
                yield _line(source, max(0, source.find(written))), paragraph


def _lesson_texts(lesson: dict[str, Any]) -> Iterator[str]:
    """Return the texts of a lesson's steps."""
    for step in lesson.get("steps", []):
        yield from (step[name] for name in ("title", "text", "question") if name in step)
        yield from step.get("hints", [])
        yield from (look["label"] for look in step.get("look", []))
        for holder, name in (("check", "missing"), ("solution", "text")):
            if text := step.get(holder, {}).get(name):
                yield text


def markdown_texts(source: str) -> Iterator[tuple[int, str]]:
    """Return paragraphs, items, headings and rows of tables, without blocks of code."""
    source = re.sub(
        r"^```.*?^```|<!--.*?-->",
        lambda found: "\n" * found[0].count("\n"),
        source,
        flags=re.MULTILINE | re.DOTALL,
    )
    block = re.compile(
        r"^[ ]*(?:[-*]|\d+\.|#+|\|)[ ].*(?:\n(?![ ]*(?:[-*|#]|\d+\.)|\s*\n).*)*"
        r"|^(?![ ]*(?:[-*]|\d+\.|#+|\|)[ ])\S.*(?:\n(?![ ]*(?:[-*|#]|\d+\.)[ ]|\s*\n).*)*",
        re.MULTILINE,
    )
    for found in block.finditer(source):
        if not re.fullmatch(r"[|\-: ]+", found[0]):
            yield _line(source, found.start()), found[0]


# --- phrases

#: Phrases that cannot be written as one: a pattern, and what to write instead.
PATTERNS = {
    r"(?<!\bthere )\bis no (?!longer\b|more than\b)": "is not a",
    r"\bputs? right\b": "correct",
    r"\b(go|goes|going|went|gone) along\b": "is sent, is included",
    r"\bwhat came\b": "response, data received",
    r"\b(came|comes|come) of (it|that|this)\b": "follow-up, resulted in",
    r"\b(was|were|is|are|has|had|have|be|been) told\b": "was reported",
    r"\btold (about|by|of|in)\b": "reported, shown",
    r"\bmend(s|ed|ing|able)?\b": "fix",
    r"\bask(s|ed|ing)? after\b": "poll",
    r"\bstands? (there|here|in|at|below|above)\b": "is",
    r"\bhow (it|things) stands?\b": "status",
    r"\bas it (is|was|came|stands)\b": "unchanged, as received",
    r"\b(nobody|somebody|whoever)\b": "the passive, or the user",
    r"\bas many as\b": "at most, the maximum",
    r"\bsays? so\b": "shows it, reports it",
    r"^say (what|where|how|who|which)\b": "Enter …",
    r"\bnothing (goes|stands|came|comes|is left)\b": "no …",
    r"\bone too many\b": "unexpected",
}


class Phrase(NamedTuple):
    """A phrase that is refused, and what to write instead."""

    pattern: re.Pattern[str]
    instead: str


def refused_phrases() -> list[Phrase]:
    """Return the phrases of the glossary's table “On pages and in commands”, and the patterns.

    Words are whole words, and upper and lower case are the same. A single word of the table is
    refused as well.
    """
    part = GLOSSARY.read_text().split("### On pages and in commands", 1)[1].split("\n### ", 1)[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", part, re.MULTILINE)
    phrases = {
        rf"(?<!\w){re.escape(phrase)}(?!\w)": better
        for phrase, better in rows
        if phrase != "do not write" and set(phrase) != {"-"}
    }
    return [
        Phrase(re.compile(pattern, re.IGNORECASE), better)
        for pattern, better in (*phrases.items(), *PATTERNS.items())
    ]


#: Texts that the phrases are not for: the demo's data, and the page that lists the phrases.
EXEMPT = re.compile(r"^(playground/demo/|fixtures/demo_corpus|docs/(glossary|findability)\.md)")


def refused_texts() -> dict[UserText, list[str]]:
    """Return the texts with a refused phrase, each with the phrases and what to write instead."""
    phrases = refused_phrases()
    # Most texts have none: one pattern of all is faster than each of them.
    any_phrase = re.compile("|".join(each.pattern.pattern for each in phrases), re.IGNORECASE)
    refused: dict[UserText, list[str]] = {}
    for each in user_texts():
        if not EXEMPT.match(each.path) and any_phrase.search(each.text):
            # Code and links of a page are not prose: names of options and members are contracts.
            prose = re.sub(r"`[^`]*`|\]\([^)]*\)", "``", each.text)
            found = [(p.pattern.search(prose), p.instead) for p in phrases]
            if hits := [f"“{hit[0].strip()}”: {instead}" for hit, instead in found if hit]:
                refused[each] = hits
    return refused


def as_allowed(each: UserText) -> str:
    """Return the line of a text in the list of allowed ones: without its line, which changes."""
    return f"{each.path}: {each.text}"


def main() -> None:
    """Print the texts, or write the list of allowed ones."""
    parser = argparse.ArgumentParser(prog="python -m tests.strings", description=__doc__)
    parser.add_argument("--refused", action="store_true", help="only texts with a refused phrase")
    parser.add_argument("--allow", action="store_true", help="write the list of allowed texts")
    options = parser.parse_args()
    if options.allow:
        lines = sorted({as_allowed(each) for each in refused_texts()})
        ALLOWED.write_text("".join(f"{line}\n" for line in lines))
        print(f"{len(lines)} texts in {ALLOWED.relative_to(ROOT)}")
    elif options.refused:
        for each, hits in refused_texts().items():
            print(f"{each.path}:{each.line}: {each.text}\n    {'; '.join(hits)}")
    else:
        for each in user_texts():
            print(f"{each.path}:{each.line}: {each.text}")


if __name__ == "__main__":
    main()
