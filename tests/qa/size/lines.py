"""Files and lines by kind, and functions that are too small to stand alone."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

#: Parts of the package that are not the web side.
_OTHER_SIDE = ("protocols", "conformance", "transport", "expectations", "demo", "migrations")
#: A template's line is too long from here on.
_LONGEST = 120


def _is_web(path: str) -> bool:
    return path.startswith("playground/") and not path.startswith(
        tuple(f"playground/{name}/" for name in _OTHER_SIDE)
    )


#: Name, and which files it counts.
_KINDS: list[tuple[str, Callable[[str], bool]]] = [
    ("Python of playground/", lambda path: path.startswith("playground/") and _is_python(path)),
    ("of it the web side", lambda path: _is_web(path) and _is_python(path)),
    ("JSON of playground/", lambda path: re.match(r"playground/.*\.json$", path) is not None),
    ("templates", lambda path: re.search(r"(^|/)templates/.*\.html$|^playground/.*\.html$", path)
     is not None),
    ("CSS", lambda path: re.match(r"static/.*\.css$", path) is not None),
    ("JavaScript", lambda path: re.match(r"static/.*\.js$", path) is not None
     and not path.endswith(".test.js")),
    ("Python of tests/", lambda path: path.startswith("tests/") and _is_python(path)),
]  # fmt: skip


def _is_python(path: str) -> bool:
    return path.endswith(".py")


def count(tree: Path, *, verbose: bool) -> Iterator[str]:
    """Yield a line for each kind of file, then for long lines and small functions."""
    paths = subprocess.run(
        ["git", "ls-files"], cwd=tree, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name, is_counted in _KINDS:
        found = [path for path in paths if is_counted(path)]
        total = sum(len((tree / path).read_text("utf-8").splitlines()) for path in found)
        yield f"{name:28}{total:8,} lines {len(found):6,} files"
        if verbose:
            folders = Counter(str(Path(path).parent) for path in found)
            yield from (f"  {folder:40}{number:5}" for folder, number in folders.most_common())
    templates = [path for path in paths if _KINDS[3][1](path)]
    texts = [(tree / path).read_text("utf-8").splitlines() for path in templates]
    long = sum(len(line) > _LONGEST for text in texts for line in text)
    yield f"lines of templates over {_LONGEST} characters: {long:,}"
    loose = [path for path in paths if re.fullmatch(r"playground/(?!__init__)\w+\.py", path)]
    yield f"modules loose in playground/: {len(loose)}"
    sources = [tree / path for path in paths if _KINDS[0][1](path)]
    small = _small_functions(sources)
    yield f"functions of three lines or less that are named once: {len(small):,}"
    if verbose:
        yield from (f"  {name}" for name in small)


def _small_functions(sources: list[Path]) -> list[str]:
    """Return the functions whose body has three lines at most and whose name occurs once more.

    Methods that a framework calls, such as properties of templates, are no calls in Python: a
    decorated function, a method of a public name and a dunder are left out.
    """
    texts = {path: path.read_text("utf-8") for path in sources}
    names = Counter(word for text in texts.values() for word in re.findall(r"\b\w+\b", text))
    found = []
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if not body or node.decorator_list or node.name.startswith("__"):
                continue
            length = (body[-1].end_lineno or 0) - body[0].lineno + 1
            if length <= 3 and names[node.name] == 2:
                found.append(f"{path.name}: {node.name}")
    return found
