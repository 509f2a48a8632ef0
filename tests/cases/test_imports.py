"""Files and commands of other tools: read, or named with what to do instead."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from playground.models import Collection, SavedRequest
from playground.protocols.frames import Frame
from tests.cases import FILES
from tests.support.commands import Result, run_command
from tests.support.markup import read
from tests.support.stored_runs import END, HEAD, K, recorded

URL = "http://127.0.0.1:8500/x/ask"
BODY = '{"query": {"text": "x"}}'
DOCUMENT = {"query": {"text": "x"}}


def imported(tmp_path: Path, content: str | bytes) -> Result:
    path = tmp_path / "theirs"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return run_command("import_collection", str(path))


def shown(content: str | bytes, page: str = "/collections/import/") -> tuple[int, str]:
    """Status and text of a page of imports that got a file."""
    data = content.encode() if isinstance(content, str) else content
    response = Client().post(page, {"file": SimpleUploadedFile("theirs", data)})
    return response.status_code, read(response.content.decode()).words


def postman(*bodies: str) -> dict[str, Any]:
    return {
        "info": {"name": "P", "schema": "v2.1.0"},
        "item": [
            {"name": f"R{number}", "request": {"method": "POST", "url": URL,
             "body": {"mode": "raw", "raw": body}}}
            for number, body in enumerate(bodies)
        ],
    }  # fmt: skip


#: Files of other formats, and how they are named.
FOREIGN: dict[str, tuple[str | bytes, str]] = {
    "insomnia": ((FILES / "insomnia-v4.json").read_bytes(), "This is an Insomnia export. Import"),
    "insomnia 5": ("type: collection.insomnia.rest/5.0\nname: x\n", "an Insomnia export in YAML."),
    "openapi": ('{"openapi": "3.1.0", "info": {}, "paths": {"item": []}}', "an OpenAPI document."),
    "swagger": ('{"swagger": "2.0", "info": {}}', "an OpenAPI document (Swagger 2)."),
    "openapi yaml": ("# API\n\nopenapi: 3.0.0\ninfo:\n", "an OpenAPI document in YAML."),
    "environment": ('{"values": [], "_postman_variable_scope": "environment"}', "a Postman env"),
    "dump": ('{"version": 1, "collections": [], "environments": []}', "a Postman data dump."),
    "bruno": ('{"name": "x", "version": "1", "items": []}', "a Bruno collection."),
    "bru": ("meta {\n  name: x\n}\n", "a Bruno request."),
    "hoppscotch": ('[{"v": 1, "name": "x", "folders": [], "requests": []}]', "a Hoppscotch coll"),
    "postman 1": ('{"id": "1", "name": "x", "requests": []}', "a Postman Collection of version 1."),
    "thunder": ('{"clientName": "Thunder Client", "requests": []}', "a Thunder Client collection."),
    "http": (f"### x\nPOST {URL}\n\n{BODY}\n", "an .http file."),
    "http without a title": (f"POST {URL} HTTP/1.1\n\n{BODY}\n", "an .http file."),
    "yaml": ("- model: playground.collection\n  fields:\n", "a YAML document. Convert it to JSON."),
    "html": ("\n<!DOCTYPE html><html>", "an HTML page. Use the URL of the file itself."),
    "xml": ("<?xml version='1.0'?><a/>", "an XML or HTML document."),
    "lines": (f"{BODY}\n{BODY}\n", "a JSON Lines file."),
    "cURL": ((FILES / "curl-windows-quotes.txt").read_bytes(), "a cURL command. Paste it into"),
    "powershell": ('Invoke-WebRequest -Uri "x"', "a PowerShell command."),
    "fetch": ('await fetch("x")', "a JavaScript fetch call."),
    "mcp": ('{"mcpServers": {}}', "an MCP client configuration."),
    "card": ('{"name": "x", "skills": [], "capabilities": {}}', "an A2A agent card."),
    "request": (BODY, "an NLWeb request. Paste it into the JSON tab"),
    "conflict": (
        '[\n {\n<<<<<<< HEAD\n "a": 1\n=======\n "a": 2\n>>>>>>> b\n }\n]',
        "Merge conflict markers at line 3. Resolve the conflict first.",
    ),
    "windows conflict": ("[\r\n=======\r\n]", "Merge conflict markers at line 2."),
    "zip": (b"PK\x03\x04", "a zip archive. Unpack it"),
    "utf-16": ("\ufeff[]".encode("utf-16-le"), "UTF-16 text. Save it as UTF-8."),
    "utf-16 without a mark": ("[]".encode("utf-16-be"), "UTF-16 text. Save it as UTF-8."),
    "empty": ("", "The file is empty."),
    "mark alone": ("\ufeff \n", "The file is empty."),
    "cut": ('[{"model": ', "Unexpected end of file: the JSON is incomplete."),
    "script": ("<script>alert(1)</script>", "an XML or HTML document."),
}  # fmt: skip


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_another_format_is_named(name: str, tmp_path: Path) -> None:
    content, words = FOREIGN[name]
    done = imported(tmp_path, content)
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr
    if name not in ("empty", "mark alone"):  # A form without a file asks for one.
        status, text = shown(content)
        assert status == 422
        assert words in text
    assert not Collection.objects.exists()


def test_a_mark_of_the_byte_order_is_no_problem(tmp_path: Path) -> None:
    text = "\ufeff" + (FILES / "fixture-minimal.json").read_text()
    assert imported(tmp_path, text).returncode == 0


@pytest.mark.parametrize(
    "content",
    [
        "<" * 200_000,
        "{" * 200_000,
        '{"a": "' + "\\" * 200_001,
        "# x\n" * 50_000,
        "\n" * 200_000 + "x",
        "a" * 200_000 + ":",
        "{}\n" * 60_000,
        "@" + "-" * 200_000,
    ],
)
def test_a_large_foreign_file_takes_no_longer_than_to_read(content: str, tmp_path: Path) -> None:
    assert imported(tmp_path, content).returncode == 1


class TestPostman:
    def test_a_response_of_its_api_is_unwrapped(self) -> None:
        done = run_command("import_collection", str(FILES / "postman-api-wrapped.json"))
        assert done.stdout.endswith("wrapped: 2 added, 0 changed, 0 unchanged.\n")
        status, text = shown((FILES / "postman-api-wrapped.json").read_bytes())
        assert status == 200
        assert "Import Wrapped" in text

    @pytest.mark.parametrize(
        "body",
        [
            json.loads((FILES / "postman-json-comments.json").read_text())["item"][0]["request"][
                "body"
            ]["raw"],
            '/* {"query": */ {"query": {"text": "x"}} // "',
            '{"query": /* a\n// b */ {"text"/**/: "x"//\r\n}}',
            '{"query": {"text": "x" /* {{never}} "*/ }}/*',
        ],
    )
    def test_comments_in_a_body_are_left_out(self, body: str, tmp_path: Path) -> None:
        assert imported(tmp_path, json.dumps(postman(body))).returncode == 0
        assert SavedRequest.objects.get().document == DOCUMENT

    @pytest.mark.parametrize("text", ["http://x/*y*/", "a // b", '\\" // "', "/*{{name}}*/"])
    def test_what_looks_like_a_comment_in_a_string_stays(self, text: str, tmp_path: Path) -> None:
        body = json.dumps({"query": {"text": text}, "n": "{{n}}"}).replace('"{{n}}"', "{{n}}")
        assert imported(tmp_path, json.dumps(postman(body))).returncode == 0
        assert SavedRequest.objects.get().document == {"query": {"text": text}, "n": "{{n}}"}

    @pytest.mark.parametrize("body", ['{"a": "' + '\\"' * 150_000, "/*" * 150_000, "//\n" * 99_000])
    def test_a_body_that_does_not_end_takes_linear_time(self, body: str, tmp_path: Path) -> None:
        done = imported(tmp_path, json.dumps(postman(body)))
        assert "0 of 1 requests can be imported." in done.stderr

    def test_nothing_importable_is_no_success(self, tmp_path: Path) -> None:
        bodies = ["[]"] * 6 + ['{"jsonrpc": "2.0", "method": "message/send"}']
        whole = {**postman(), "item": [{"name": "F", "item": postman(*bodies)["item"]}]}
        for content, count in (
            (json.dumps(whole), 7),
            ((FILES / "postman-nothing-importable.json").read_text(), 1),
        ):
            done = imported(tmp_path, content)
            assert (done.returncode, done.stdout) == (1, "")
            assert f"nothing was imported.\n0 of {count} requests can be imported.\n" in done.stderr
            assert "Skipped “" in done.stderr
            status, text = shown(content)
            assert status == 422
            assert f"Nothing was imported 0 of {count} requests can be imported." in text
        assert not Collection.objects.exists()


class TestHar:
    def test_an_invalid_entry_costs_that_entry(self) -> None:
        whole = json.loads((FILES / "firefox-false-base64.har").read_text())
        entries = whole["log"]["entries"]
        entries[1:] = [7, {"request": {"method": 5, "url": []}}, 8, {**entries[0], "response": 0}]
        status, text = shown(json.dumps(whole))
        assert status == 200
        assert "Import Requests to 127.0.0.1:8500?" in text
        for words in (
            "/log/entries/1 Skipped 2 entries. An entry must be an object with a request.",
            "/log/entries/2 Skipped. A request must have a method and a URL, both strings.",
        ):
            assert words in text

    def test_members_that_other_tools_leave_out(self, tmp_path: Path) -> None:
        """The media type of a form without headers; a header without a value."""
        whole = json.loads((FILES / "firefox-false-base64.har").read_text())
        (first, second) = whole["log"]["entries"]
        fields = [{"name": "query", "value": "eggs"}]
        kind = "application/x-www-form-urlencoded"
        first["request"] |= {"headers": [], "postData": {"mimeType": kind, "params": fields}}
        second["request"]["headers"].append({"name": "X", "value": None})
        done = imported(tmp_path, json.dumps(whole))
        assert done.returncode == 0
        saved = SavedRequest.objects.order_by("position")
        assert [each.document["query"]["text"] for each in saved] == ["eggs", "x"]

    def test_nothing_that_can_be_imported_is_an_error(self) -> None:
        whole = json.loads((FILES / "firefox-false-base64.har").read_text())
        for entry in whole["log"]["entries"]:
            entry["request"] |= {"method": "GET", "postData": None}
        status, text = shown(json.dumps(whole))
        assert status == 422
        assert "0 of 2 requests can be imported." in text
        assert "No body and no query parameters." in text


def parsed(command: str) -> Any:
    return Client().post("/formats/curl/", {"command": command}).json()


CASES = (FILES / "curl-windows-quotes.txt").read_text().strip().split("\n\n")

#: Commands for shells of Windows, and the query that they send.
COMMANDS: dict[str, tuple[str, str]] = {
    "cmd": (CASES[0], "the man"),
    "PowerShell": (CASES[1], "x"),
    "cmd, escaped twice": (
        f'curl "{URL}" ^\r\n  -H "A: b" ^\r\n -d "{{""query"":{{""text"":""a ^ b""}}}}"',
        "a ^ b",
    ),
    "cmd, empty argument": (
        f'curl -A "" -d "{{""query"":{{""text"":""x""}}}}" {URL}', "x",
    ),
    "cmd, ampersand": (f"curl {URL}?query=a^&streaming=true", "a"),
    "cmd, Chrome": (
        f'curl ^"{URL}^" ^\n  --data-raw '
        '^"^{^\\^"query^\\^":^{^\\^"text^\\^":^\\^"50^% off^\\^"^}^}^"',
        "50% off",
    ),
    "PowerShell, continued": (
        f"curl.exe -X POST `\r\n  \"{URL}\" `\r\n  -H 'a: it''s' -d '{BODY}'", "x",
    ),
    "PowerShell, doubled": (
        f"curl.exe {URL} -d '{{\"\"query\"\": {{\"\"text\"\": \"\"x\"\"}}}}'", "x",
    ),
    "PowerShell, backtick": (
        f'curl.exe {URL} -d "{{`"query`": {{`"text`": `"a$b `$c`"}}}}"', "a{{b}} $c",
    ),
    "PowerShell 7, escape of JSON": (
        f"curl.exe {URL} `\n -d '{{\"query\": {{\"text\": \"say \\\"hi\\\"\"}}}}'", 'say "hi"',
    ),
    "PowerShell, variable": (
        f'curl.exe {URL} `\n -H "Authorization: Bearer $env:TOKEN" -d \'{BODY}\'', "x",
    ),
    "POSIX stays POSIX": (f"curl {URL} -H 'a: \"\"b' -d '{BODY}'", "x"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_for_windows(name: str) -> None:
    command, text = COMMANDS[name]
    found = parsed(command)
    assert found["refusals"] == []
    assert found["address"] == URL
    assert found["document"]["query"] == {"text": text}


def test_signs_of_a_web_page_in_a_command() -> None:
    (refusal,) = parsed(f"curl -X POST “{URL}” -d '{BODY}'")["refusals"]
    assert refusal == "The URL is in typographic quotes. Use straight ones."
    body = BODY.replace('"x"', '"it’s\u00a0"')
    found = parsed(f"curl\u00a0{URL}\u00a0-d '{body}'")
    assert (found["refusals"], found["address"]) == ([], URL)
    assert found["document"]["query"]["text"] == "it’s\u00a0"


def test_what_needs_a_shell_is_refused_for_every_shell() -> None:
    for command, words in (
        (f'curl -G {URL} --data-urlencode "query=`date`"', "a shell substitution"),
        (f'curl.exe {URL} -d "$(Get-Content x)"', "a shell substitution"),
        (f'curl "{URL}" -d "{{""query"": 1}}" | more', "a pipe"),
        ((FILES / "curl-windows-quotes.txt").read_text(), "Several commands"),
    ):
        (refusal,) = parsed(command)["refusals"]
        assert words in refusal


# These would take longer than a test may, if the time were not linear.
@pytest.mark.parametrize("sign", ['""a', "^", "`\n", "''", '\\"', "'\\\""])
def test_a_long_command_for_windows_takes_linear_time(sign: str) -> None:
    parsed(f"curl.exe {URL} -d '{sign * 100_000}")


@pytest.mark.parametrize("target", ["/ask", "/-o?x=@y", "/[1-3]{a}", "/a%20b?c='d'&e=$f"])
def test_an_exported_command_names_its_url_and_is_imported_again(target: str) -> None:
    headers = "Host: a.example\r\nContent-Type: application/json"
    call = f"POST {target} HTTP/1.1\r\n{headers}\r\n\r\n{BODY}".encode()
    run = recorded([[Frame(0, 0, K.CALL, call), HEAD], [END]])
    page = read(Client().get(f"/runs/{run.pk}/code/").content.decode())
    snippet = page.by_id("snippet-curl-text")
    assert snippet
    command = snippet.text
    words = shlex.split(command)
    assert words[words.index("--url") + 1] == f"http://a.example{target}"
    assert sum(word.startswith("http") for word in words) == 1
    found = parsed(command)
    assert (found["refusals"], found["address"]) == ([], f"http://a.example{target}")
    assert found["document"] == DOCUMENT
