"""The places of a new protocol and of a new event: files to create, and lines to insert.

Paths are relative to the top of a checkout, which is the current directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class New:
    """A file to create."""

    path: str
    text: str

    def write(self) -> Path:
        """Create the file. Raise `ValueError` if it exists."""
        path = Path(self.path)
        if path.exists():
            raise ValueError(f"{path} exists")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text, "utf-8")
        return path


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to insert before another one, which occurs once in its file."""

    path: str
    before: str
    text: str

    def write(self) -> Path:
        """Insert the text. Raise `ValueError` if the place is not found."""
        path = Path(self.path)
        found = path.read_text("utf-8")
        if found.count(self.before) != 1:
            raise ValueError(f"{path} has {self.before!r} {found.count(self.before)} times")
        path.write_text(found.replace(self.before, self.text + self.before), "utf-8")
        return path


Place = New | Insertion


def _files(kind: str, into: Mapping[str, str], words: Mapping[str, str]) -> list[Place]:
    """Return the files of a kind: path by the name of its template."""
    return [
        New(path, Template((_HERE / kind / name).read_text("utf-8")).substitute(words))
        for name, path in into.items()
    ]


def protocol(name: str, label: str) -> list[Place]:
    """Return the places of a protocol that sends `{"text": …}` and shows the text it gets."""
    key = name.replace("_", "-")
    words = {"name": name, "key": key, "label": label}
    package = f"playground/protocols/{name}"
    return [
        *_files(
            "protocol",
            {
                "init.txt": f"{package}/__init__.py",
                "requests.txt": f"{package}/requests.py",
                "reader.txt": f"{package}/reader.py",
                "schema.txt": f"playground/protocols/schemas/{key}-1/request.json",
                "test.txt": f"tests/protocols/{name}/test_{name}.py",
            },
            words,
        ),
        New(f"tests/protocols/{name}/__init__.py", ""),
        Insertion(
            "playground/protocols/registry.py",
            "from playground.protocols.events import",
            f"from playground.protocols.{name} import reader as {name}_reader\n"
            f"from playground.protocols.{name} import requests as {name}\n",
        ),
        Insertion(
            "playground/protocols/registry.py",
            "}\n#: The protocol of what names none",
            Template((_HERE / "protocol/row.txt").read_text("utf-8")).substitute(words),
        ),
    ]


def event(name: str, label: str) -> list[Place]:
    """Return the places of an event that is an entry of the thread, with a text."""
    kind = "".join(part.capitalize() for part in name.split("_"))
    words = {"name": name, "kind": kind, "label": label, "events_label": name.replace("_", " ")}
    return [
        *_files("event", {"entry.txt": f"templates/conversation/{name}.html"}, words),
        Insertion(
            "playground/protocols/events.py",
            "_BEFORE_WORD = ",
            Template((_HERE / "event/class.txt").read_text("utf-8")).substitute(words),
        ),
        Insertion(
            "playground/conversation/elements.py",
            "}\n\n#: What adds child runs",
            f'    ev.{kind}: Element(lambda *_: ("conversation/{name}.html", {{}})),\n',
        ),
        Insertion(
            "playground/protocols/schemas/playground-1/events.json",
            '\n  },\n  "examples": [',
            Template((_HERE / "event/meaning.txt").read_text("utf-8")).substitute(words).rstrip(),
        ),
        Insertion(
            "tests/cli/test_output.py",
            '    (ev.Tools(4, ({"name": "ask"}, "odd")),\n',
            f'    (ev.{kind}(4, "a"), {{"type": "{name}", "text": "a"}}),\n',
        ),
        Insertion(
            "tests/cli/test_output.py",
            '"tools ask",\n    ]',
            f'\n        "{words["events_label"]} a",\n        ',
        ),
        Insertion(
            "tests/support/strategies.py",
            "    st.builds(ev.Started, seq=",
            f"    st.builds(ev.{kind}, seq=st.just(7), text=texts, raw=json_values),\n",
        ),
    ]
