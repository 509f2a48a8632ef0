"""Every example that the specification texts print: sent, served and shown as printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import ask
from tests.cases.specification import (
    EXAMPLES,
    GENERATIONS,
    STATELESS,
    TABLE,
    Example,
    events_of,
    not_shown,
    run,
    sent,
    text_of,
)
from tests.support.commands import run_command
from tests.support.servers import reply

_PRINTED = "nlweb-0.54/as-printed-"


def _check(example: Example, generation: str, more: dict[str, str]) -> None:
    answer = run(example, generation)
    assert answer.ending == example.ending
    assert answer.stderr == ""
    assert events_of(answer) == example.types
    assert answer.findings == {**example.findings, **more}
    assert not_shown(example, answer) == set()
    # Whatever is printed of a request is what the agent gets.
    ((line, document),) = sent(answer)
    assert document == example.document
    path = "/await" if "promise_token" in document else "/ask"
    assert line == ("POST " + path if example.binding == "nlweb" else "POST /")


@pytest.mark.parametrize("example", TABLE, ids=lambda example: example.name)
def test_example(example: Example) -> None:
    _check(example, GENERATIONS[0], {})


@pytest.mark.parametrize(
    "example", [each for each in TABLE if each.binding == "mcp"], ids=lambda each: each.name
)
def test_example_over_mcp_without_a_session(example: Example) -> None:
    is_result = example.response and '"result"' in text_of(example.response)
    _check(example, GENERATIONS[1], STATELESS if is_result else {})


def test_no_example_is_missing() -> None:
    """Tools are listed by the MCP servers of all examples; two files are not JSON."""
    files = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*") if path.is_file()}
    used = {name for each in TABLE for name in (each.request, each.response)}
    tools = {name for name in files if "/tool-" in name}
    assert files - tools - used == {
        f"{_PRINTED}4.1.2-promise.txt",
        f"{_PRINTED}4.2-await.txt",
    }


def test_a_response_with_typographic_quotation_marks() -> None:
    """001 prints its examples so. They are no JSON; the text is shown."""
    text = text_of(f"{_PRINTED}4.1.2-promise.txt")
    answer = ask(reply(text.encode()), arguments=("--protocol-version", "0.54"))
    assert answer.ending == ("failed", "none", 3)
    assert answer.findings == {"reply-object": "must"}
    assert "“token”: “promise_xyz”" in answer.page


def test_a_request_with_typographic_quotation_marks(tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text(text_of(f"{_PRINTED}4.2-await.txt"), "utf-8")
    done = run_command("send", "http://127.0.0.1:9/", "--request", str(file))
    assert done.returncode == 2
    assert "Line 2, column 2: typographic quotation mark" in done.stderr
