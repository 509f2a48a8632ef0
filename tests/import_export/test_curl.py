"""Parser of cURL commands: supported, ignored and unsupported options; nothing is run or read."""

from __future__ import annotations

import base64
import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.import_export.curl import (
    IGNORED,
    MAX_COMMAND,
    OPTIONS,
    SUPPORTED,
    ShellError,
    is_curl,
    read_curl,
    split_command,
)
from playground.import_export.snippets import snippet_call, to_curl
from playground.protocols import registry
from playground.protocols.exchange import Target
from tests.support.json_values import TEXTS, values

URL = "http://127.0.0.1:8000/demo"
EGGS = '{"query": {"text": "eggs"}}'
RPC = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "ask", "arguments": {"query": {"text": "eggs"}}},
}
QUERY = {"query": {"text": "eggs"}}
FLAT = {**QUERY, "prefer": {"streaming": True}}
POSTED = {**QUERY, "prefer": {"streaming": False}}


def parsed(command: str) -> dict[str, Any]:
    found = read_curl(command)
    assert not found.refusals
    return asdict(found)


#: Commands, and the expected fields of their requests.
TAKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (f"curl {URL}/ask -d '{EGGS}'", {"address": f"{URL}/ask", "document": QUERY}),
    "prompt": (f"$ curl {URL} --data '{EGGS}'", {"document": QUERY}),
    "windows binary": (f"curl.exe {URL} --data '{EGGS}'", {"document": QUERY}),
    "no scheme": (f"curl 127.0.0.1:8000/demo -d '{EGGS}'", {"address": URL}),
    "address as an option": (f"curl --url {URL} -d '{EGGS}'", {"address": URL}),
    "address last": (f"curl -X POST -d '{EGGS}' -- {URL}", {"address": URL}),
    "fragment": (f"curl '{URL}#top' -d '{EGGS}'", {"address": URL}),
    "json": (f"curl --json '{EGGS}' {URL}", {"document": QUERY, "headers": []}),
    "json in parts": (f"curl --json '{EGGS[:9]}' --json '{EGGS[9:]}' {URL}", {"document": QUERY}),
    "cluster": (f"curl -sSLXPOST -d'{EGGS}' {URL}", {"document": QUERY}),
    "values that look like options": (
        f"curl -A -s -w --next -H '-d: -1' {URL} -d '{EGGS}'",
        {"document": QUERY, "headers": [["-d", "-1"]]},
    ),
    "equals sign after a short option": (
        f"curl {URL} -d=1 -d query=eggs -G", {"address": f"{URL}?=1", "version": "legacy"},
    ),
    "continued": (f"curl \\\n  {URL} \\\r\n  -d '{EGGS}'", {"document": QUERY}),
    "continued by nothing": (f"curl {URL} \\\n  -d '{EGGS}' \\\n", {"document": QUERY}),
    "comment": (f"curl {URL} -d '{EGGS}' # that is all", {"document": QUERY}),
    "double quotes": (
        f'curl {URL} -d "{{\\"query\\": {{\\"text\\": \\"a\\\\\\"b\\"}}}}"',
        {"document": {"query": {"text": 'a"b'}}},
    ),
    "ansi quotes": (
        f"curl {URL} -d $'{{\"query\": {{\"text\": \"it\\'s \\u0021 \\xe2\\x82\\xac\\101\"}}}}'",
        {"document": {"query": {"text": "it's ! €A"}}},
    ),
    "ansi quotes, in halves": (
        f"curl {URL} -d $'{{\"query\": {{\"text\": \"\\ud83d\\ude00 \\uD83D\"}}}}'",
        {"document": {"query": {"text": "😀 \ufffd"}}},
    ),
    "a caret in quotes, after a quote without": (
        f"""curl {URL} -d '{{"query": {{"text": ["it'\\''s", "^"]}}}}'""",
        {"document": {"query": {"text": ["it's", "^"]}}},
    ),
    "a caret in ansi quotes, after a quote": (
        f"""curl {URL} -d $'{{"query": {{"text": ["it\\'s", "^"]}}}}'""",
        {"document": {"query": {"text": ["it's", "^"]}}},
    ),
    "copied with its end": (f"curl {URL} -d '{EGGS}' ;\n", {"document": QUERY}),
    "cmd.exe, older": (
        f'curl "{URL}" ^\r\n -H "accept: */*" ^\r\n -d "{{\\"query\\":{{\\"text\\":\\"a\\"}}}}"',
        {"document": {"query": {"text": "a"}}, "address": URL},
    ),
    "cmd.exe": (
        f'curl ^"{URL}?a=1^&b=2^" ^\n  -H ^"accept: */*^" ^\n  --data-raw '
        '^"^{^\\^"query^\\^":^{^\\^"text^\\^":^\\^"it\'s `$x`^\\^"^}^}^"',
        {"document": {"query": {"text": "it's `$x`"}}, "address": f"{URL}?a=1&b=2"},
    ),
    "get": (
        f"curl '{URL}/ask?query=eggs&k=1&prev=%5B%22a%22%5D'",
        {
            "version": "legacy", "address": f"{URL}/ask?k=1",
            "document": {**FLAT, "context": {"prev": ["a"]}},
        },
    ),
    "get, encoded": (
        f"curl -G {URL} --data-urlencode 'query=eggs & ham'",
        {"version": "legacy", "document": {**FLAT, "query": {"text": "eggs & ham"}}},
    ),
    "url-query": (f"curl {URL} --url-query query=eggs", {"version": "legacy", "document": FLAT}),
    "get without a stream": (
        f"curl '{URL}?query=eggs&streaming=false'", {"document": POSTED},
    ),
    "form": (
        f"curl {URL} -H 'Content-Type: application/x-www-form-urlencoded' -d query=eggs",
        {"version": "legacy", "document": POSTED},
    ),
    "form, as curl says it of itself": (
        f"curl {URL} -d query=eggs --data-urlencode 'site=a b'",
        {"version": "legacy", "document": {**POSTED, "query": {"text": "eggs", "site": "a b"}}},
    ),
    "flat": (f"""curl {URL} -d '{{"query": "eggs", "other": 1}}'""", {"document": POSTED}),
    "version": (
        f"""curl {URL} -d '{{"query": {{}}, "meta": {{"api_version": "0.54"}}}}'""",
        {"version": "0.54", "protocol": "nlweb", "binding": "http"},
    ),
    "await": (
        f"""curl {URL}/await -d '{{"promise_token": "p"}}'""",
        {"address": URL, "document": {"promise_token": "p"}},
    ),
    "mcp": (
        f"curl {URL}/mcp -d '{json.dumps(RPC)}' -H 'Mcp-Session-Id: s'",
        {"address": f"{URL}/mcp", "binding": "mcp", "document": QUERY, "headers": []},
    ),
    "agent api": (
        f"""curl {URL}/agent-api -d '{{"input": "eggs", "stream": true}}'""",
        {"protocol": "agent-api", "document": {"input": "eggs", "stream": True}},
    ),
    "placeholders": (
        "curl '{{base}}/ask' -d '{\"query\": {\"text\": \"{{q}}\", \"n\": {{n}} }}'",
        {"address": "{{base}}/ask", "document": {"query": {"text": "{{q}}", "n": "{{n}}"}}},
    ),
    "variables": (
        f'curl {URL} -H "Authorization: Bearer ${{TOKEN}}" -d \'{EGGS}\'',
        {"auth": {"type": "bearer", "secret": "TOKEN"}, "headers": []},
    ),
    "key": (
        f'curl {URL} -H "X-API-Key: $KEY" -d \'{EGGS}\'',
        {"auth": {"type": "api_key", "header": "X-API-Key", "secret": "KEY"}},
    ),
    "user with a variable": (
        f'curl -u "me:$PASSWORD" {URL} -d \'{EGGS}\'',
        {"auth": {"type": "basic", "user": "me", "secret": "PASSWORD"}},
    ),
    "user in the address": (
        f"curl 'http://me:%7B%7BPASSWORD%7D%7D@127.0.0.1:8000/demo' -d '{EGGS}'",
        {"auth": {"type": "basic", "user": "me", "secret": "PASSWORD"}, "address": URL},
    ),
    "user in the address, literal": (
        f"curl http://me:a%40b@127.0.0.1:8000/demo -d '{EGGS}'",
        {
            "address": URL,
            "headers": [["Authorization", f"Basic {base64.b64encode(b'me:a@b').decode()}"]],
        },
    ),
    "user beside the one in the address": (
        f'curl http://me:x@127.0.0.1:8000/demo -u "me:$PASSWORD" -d \'{EGGS}\'',
        {
            "address": URL, "headers": [],
            "auth": {"type": "basic", "user": "me", "secret": "PASSWORD"},
        },
    ),
    "own header": (
        f"curl {URL} -H 'X-Trace: a: b' -H 'X-Empty;' -H 'X-Gone:' -d '{EGGS}'",
        {"headers": [["X-Trace", "a: b"], ["X-Empty", ""]]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_said_of_the_request_is_taken(name: str) -> None:
    command, expected = TAKEN[name]
    found = parsed(command)
    assert {key: found[key] for key in expected} == expected


#: Commands that do more than send a request, and words of the error.
REFUSED: dict[str, tuple[str, str]] = {
    "nothing": ("", "must begin with “curl”"),
    "another command": (f"wget {URL}", "must begin with “curl”"),
    "no address": ("curl -s", "no URL"),
    "a body from a file": (f"curl {URL} -d @request.json", "-d reads the body from the file"),
    "a body from a file, joined": (f"curl {URL} -d@request.json", "-d reads the body from"),
    "binary from a file": (f"curl {URL} --data-binary @r", "--data-binary reads the body"),
    "at in raw data": (f"curl {URL} --data-raw @r", "not valid JSON: Line 1, column 1"),
    "binary from standard input": (f"curl {URL} --data-binary @-", "standard input"),
    "json from a file": (f"curl {URL} --json @r", "--json reads the body"),
    "encoded from a file": (f"curl {URL} --data-urlencode q@r", "reads the file r"),
    "headers from a file": (f"curl {URL} -H @headers", "-H reads headers from the file"),
    "cookies from a file": (f"curl {URL} -b cookies.txt", "-b reads cookies from the file"),
    "output": (f"curl {URL} -d '{EGGS}' -o out.json", "-o writes a file"),
    "output, long": (f"curl {URL} -d '{EGGS}' --output /dev/null", "--output writes a file"),
    "output, in a cluster": (f"curl -sSo out {URL}", "-o writes a file"),
    "remote name": (f"curl -O {URL}", "-O writes a file"),
    "dump": (f"curl -D - {URL}", "-D writes a file"),
    "upload": (f"curl -T file {URL}", "-T reads a file"),
    "configuration": ("curl -K all.conf", "-K reads a file"),
    "configuration, long": ("curl --config all.conf", "--config reads a file"),
    "certificate": (f"curl --cert c.pem {URL}", "--cert uses a client certificate"),
    "form": (f"curl -F file=@x {URL}", "-F sends multipart form data"),
    "head": (f"curl -I {URL}", "-I uses another method"),
    "method": (f"curl -X DELETE {URL} -d '{EGGS}'", "Unsupported method DELETE"),
    "elsewhere": (f"curl --resolve a:80:127.0.0.1 {URL}", "--resolve sends the request to another"),
    "socket": (f"curl --unix-socket /run/docker.sock {URL}", "--unix-socket sends"),
    "digest": (f"curl --digest -u a:b {URL}", "--digest uses an unsupported authentication scheme"),
    "next": (f"curl {URL} --next {URL}", "--next starts a second request"),
    "two addresses": (f"curl {URL} {URL}", "two URLs"),
    "file address": ("curl file:///etc/passwd", "The URL uses file"),
    "unknown": (f"curl --frobnicate {URL}", "Unknown option --frobnicate"),
    "unknown, short": (f"curl -sW {URL}", "Unknown option -sW"),
    "unknown, with an equals sign": (f"curl {URL} --data=x", "Unknown option --data=x"),
    "unknown, abbreviated": (f"curl {URL} --dat x", "Unknown option --dat"),
    "no value": (f"curl {URL} -d", "-d needs a value"),
    "substitution": (f'curl {URL} -d "$(cat /etc/passwd)"', "shell substitution"),
    "substitution, bare": (f"curl {URL} -d $(cat x)", "shell substitution"),
    "backticks": (f"curl {URL} -d `cat x`", "shell substitution"),
    "backticks in quotes": (f'curl {URL} -d "`cat x`"', "shell substitution"),
    "expansion": (f'curl {URL} -d "${{HOME%/*}}"', "shell substitution"),
    "pipe": (f"curl {URL} -d '{EGGS}' | jq .", "a pipe"),
    "pipe, in cmd.exe": (f'curl ^"{URL}^" | more', "a pipe"),
    "second command": (f"curl {URL}; rm -rf /", "a second command"),
    "and": (f"curl {URL} && reboot", "another command"),
    "redirect": (f"curl {URL} > file", "output to a file"),
    "read": (f"curl {URL} -d @- < file", "input from a file"),
    "subshell": (f"curl {URL} (ls)", "a subshell"),
    "lines": (f"curl {URL}\nrm -rf /", "Several commands"),
    "lines that are not joined": (f"curl {URL} \\ \n -s", "end it with a backslash"),
    "open quote": (f"curl {URL} -d '{EGGS}", "Missing closing quote"),
    "open double quote": (f'curl {URL} -d "', "Missing closing quote"),
    "open ansi quote": (f"curl {URL} -d $'a\\'", "Missing closing quote"),
    "no json": (f"curl {URL} -d 'query: eggs'", "not valid JSON: Line 1, column 1"),
    "no object": (f"curl {URL} -d '[1]'", "must be a JSON object"),
    "nothing asked": (f"curl {URL}", "No body and no query parameters"),
    "form without a query": (
        f"curl {URL} -H 'content-type: application/x-www-form-urlencoded' -d a=b", "no “query”",
    ),
    "get with a body": (f"curl -X GET {URL} -d '{EGGS}'", "GET requests with a body"),
    "opening": (
        f"""curl {URL} -d '{{"jsonrpc": "2.0", "method": "initialize"}}'""", "“initialize”",
    ),
    "no method": (f"""curl {URL} -d '{{"jsonrpc": "2.0", "method": 7}}'""", "no method"),
    "no arguments": (
        f"""curl {URL} -d '{{"jsonrpc": "2.0", "method": "tools/call", "params": {{}}}}'""",
        "arguments of the tool call",
    ),
    "no address at all": (f"curl 'http://[' -d '{EGGS}'", "is not a valid URL"),
    "too long": (f"curl {URL} -d '{'x' * MAX_COMMAND}'", "longer than 2 million"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_do_more_is_refused_by_its_name(name: str) -> None:
    command, words = REFUSED[name]
    found = read_curl(command)
    assert words in " ".join(found.refusals)
    assert (found.address, found.document, found.headers, found.auth) == ("", {}, [], {})


def test_nothing_is_run_and_nothing_is_read(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    secret = tmp_path / "secret"
    secret.write_text("the contents")
    for end in (f"$(touch {mark})", f"`touch {mark}`", f"; touch {mark}", f"-o {mark}"):
        read_curl(f"curl {URL} -d '{EGGS}' {end}")
    found = read_curl(f"curl {URL} -d @{secret}")
    assert not mark.exists()
    assert "the contents" not in json.dumps(asdict(found))


def test_an_unknown_option_is_the_only_thing_that_is_said() -> None:
    found = read_curl(f"curl --frobnicate much {URL} -d '{EGGS}'")
    assert found.refusals == ["Unknown option --frobnicate."]


def test_all_refused_options_are_said_in_their_order() -> None:
    found = read_curl(f"curl --frobnicate {URL} -o out -sW --next -d")
    # "Unknown option X" or "The option X …".
    assert [refusal.rstrip(".").split()[2] for refusal in found.refusals] == [
        "--frobnicate", "-o", "-sW", "--next", "-d",
    ]  # fmt: skip


def test_every_refused_option_is_refused() -> None:
    refused = [
        name for name, option in OPTIONS.items() if option.support not in (SUPPORTED, IGNORED)
    ]
    assert len(refused) > 50
    for name in refused:
        value = " value" if OPTIONS[name].valued else ""
        found = read_curl(f"curl {name}{value} {URL} -d '{EGGS}'")
        assert any(name in refusal for refusal in found.refusals), name


def test_options_that_make_no_difference_are_passed_over_and_named() -> None:
    found = parsed(f"curl -sSN --compressed -m 5 -k -x proxy:1 -A me -e there {URL} -d '{EGGS}'")
    assert found["document"] == QUERY
    assert len(found["remarks"]) == 1
    for name in ("-s", "-S", "-N", "--compressed", "-m", "-k", "-x", "-A", "-e"):
        assert name in found["remarks"][0]


def test_what_a_browser_adds_is_left_out() -> None:
    headers = ["accept: */*", "content-type: application/json", "user-agent: M", "origin: x",
               "sec-ch-ua: y", "Cookie: a=b", "Host: z", "X-Own: kept"]  # fmt: skip
    given = " ".join(f"-H {shlex.quote(header)}" for header in headers)
    found = parsed(f"curl {URL} {given} -b a=b -d '{EGGS}'")
    assert found["headers"] == [["X-Own", "kept"]]
    assert "origin, sec-ch-ua, Cookie, Host" in " ".join(found["remarks"])
    assert "Cookies were skipped" in " ".join(found["remarks"])


@pytest.mark.parametrize(
    ("given", "header"),
    [
        ("-H 'Authorization: Bearer abc'", ["Authorization", "Bearer abc"]),
        ("--oauth2-bearer abc", ["Authorization", "Bearer abc"]),
        ("-H 'X-API-Key: abc'", ["X-API-Key", "abc"]),
        (
            "-u me:abc",
            ["Authorization", f"Basic {base64.b64encode(b'me:abc').decode()}"],
        ),
    ],
)
def test_a_typed_credential_goes_once_and_is_offered_as_a_secret(
    given: str, header: list[str]
) -> None:
    found = parsed(f"curl {given} {URL} -d '{EGGS}'")
    assert found["headers"] == [header]
    assert found["auth"] == {}
    assert "is not saved" in found["remarks"][0]
    assert "abc" not in found["remarks"][0]


def test_two_secrets_are_left_in_their_headers() -> None:
    found = parsed(f'curl -H "Authorization: Bearer $A" -H "X-Key: $B" {URL} -d \'{EGGS}\'')
    assert found["auth"] == {}
    assert found["headers"] == [["Authorization", "Bearer {{A}}"], ["X-Key", "{{B}}"]]


def test_another_tool_is_said() -> None:
    call = {**RPC, "params": {"name": "search", "arguments": {"query": {"text": "a"}}}}
    assert "calls “search”" in parsed(f"curl {URL} -d '{json.dumps(call)}'")["remarks"][0]
    assert "Unknown request format" in parsed(f"curl {URL} -d '{{\"a\": 1}}'")["remarks"][0]


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "words",
    [f"-d '{'x' * 1_000_000}'", f"-{'s' * 1_000_000}", "-s " * 100_000],
    ids=["one word", "short options in one word", "options"],
)
def test_a_long_command_is_read(words: str) -> None:
    """In linear time: quadratic time exceeds the timeout of this test."""
    read_curl(f"curl {URL} {words}")


def test_only_commands_are_commands() -> None:
    assert is_curl("  curl x")
    assert not is_curl("curly x")
    assert not is_curl("curl")


@given(st.text(max_size=60), st.sampled_from(["", "curl ", f"curl {URL} -d '{EGGS}' "]))
def test_nothing_raises(text: str, start: str) -> None:
    found = read_curl(start + text)
    assert found.refusals or found.version


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("'|' ';' \"&\" '\n'", ["|", ";", "&", "\n"]),
        ('\'$A\' "\\$A" \\$A "$A"', ["$A", "$A", "$A", "{{A}}"]),
        ("'$(a)' \"\\`a\\`\"", ["$(a)", "`a`"]),
        ("\"$'a'\"", ["$'a'"]),
        ("a#b ''#c #d", ["a#b", "#c"]),
        ("a\\\nb \"a\\\nb\" 'a\\\nb'", ["ab", "ab", "a\\\nb"]),
    ],
)
def test_quoted_signs_stand_for_themselves(text: str, words: list[str]) -> None:
    assert split_command(text) == words


@given(st.lists(TEXTS.filter(lambda text: "\r" not in text and "\0" not in text), max_size=4))
def test_words_are_read_as_a_shell_reads_them(words: list[str]) -> None:
    text = shlex.join(["curl", *words])
    assert split_command(text) == ["curl", *words]


@given(st.text(st.sampled_from("ab'\"\\ \n#~=*?[]{}%@:,.-"), max_size=14))
def test_words_are_those_of_shlex(text: str) -> None:
    """Compared with the standard library's splitter, as far as its rules are the same."""
    if "#" in text or "\n" in text:
        return
    try:
        expected = shlex.split(text)
    except ValueError:
        expected = None
    try:
        found = split_command(text)
    except ShellError:
        found = None
    if text.rstrip(" ").endswith("\\"):
        return  # A line that is continued by nothing.
    assert found == expected


@given(
    values(["query", "text", "prefer"], ["it's", '"', "$HOME `x` !", "\\n", "a\nb", "{{x}}"]),
    st.sampled_from(["http", "mcp"]),
    st.lists(st.tuples(st.sampled_from(["X-A", "X-B"]), st.sampled_from(["1", "it's", "a b"]))),
)
def test_what_is_written_is_read(value: Any, binding: str, headers: list[tuple[str, str]]) -> None:
    document = {"query": {"text": "eggs", "more": value}, "meta": {"version": "0.55"}}
    call = registry.preview(Target(URL, binding=binding, headers=tuple(headers)), document)
    assert call
    found = read_curl(to_curl(snippet_call(call)))
    assert found.refusals == []
    assert (found.binding, found.version, found.headers) == (binding, "0.55", [*map(list, headers)])
    assert found.document == json.loads(json.dumps(document))
