"""Postman Collections: import as fixtures, and export of collections."""

from __future__ import annotations

import contextlib
import itertools
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import example, given

from playground.collections.fixture import (
    MAX_TEXT,
    Fixture,
    FixtureError,
    dump,
    fixture_of,
    fixture_text,
)
from playground.collections.fixture_parser import parse_fixture
from playground.collections.importer import apply_import, plan_import
from playground.import_export import import_formats
from playground.import_export.postman import SCHEMA, is_postman, read_postman, to_postman
from playground.models import SavedRequest
from tests.support import example_collections
from tests.support.json_values import values

EGGS = {"mode": "raw", "raw": '{"query": {"text": "eggs"}}'}
URL = "https://agent.example/ask"


def item(name: str = "Eggs", **request: Any) -> dict[str, Any]:
    return {
        "name": name,
        "request": {"method": "POST", "url": {"raw": URL}, "body": EGGS, **request},
    }


def collection(*items: Any, **more: Any) -> dict[str, Any]:
    return {"info": {"name": "Theirs", "schema": SCHEMA}, "item": list(items), **more}


def imported(*items: Any, **more: Any) -> tuple[Fixture, list[str]]:
    """Return the fixture after an import, and the remarks of both parsers."""
    text, remarks = read_postman(json.dumps(collection(*items, **more)))
    found = parse_fixture(text)
    return found, [str(problem) for problem in (*remarks, *found.remarks)]


def only(*items: Any, **more: Any) -> tuple[dict[str, Any], list[str]]:
    found, remarks = imported(*items, **more)
    (request,) = found.requests.values()
    return dict(request), remarks


@given(example_collections.fixtures())
def test_our_own_comes_back_equal(fixture: Fixture) -> None:
    text = to_postman(fixture)
    assert is_postman(text)
    converted, remarks = read_postman(text)
    assert remarks == []
    assert fixture_text(parse_fixture(converted)) == fixture_text(fixture)


@pytest.mark.django_db
def test_an_import_takes_what_an_export_wrote() -> None:
    kept = example_collections.example()
    text, before = to_postman(fixture_of(kept)), dump(kept)
    found = import_formats.parse_import(text)
    assert found.format == "Postman Collection"
    assert plan_import(found.fixture, None).changes_nothing
    kept.delete()
    assert dump(apply_import(plan_import(found.fixture, None))) == before


def test_what_was_changed_in_postman_counts() -> None:
    mine = Fixture(
        "c", {"name": "C", "slug": "c", "description": "", "lesson": None}, {},
        {"eggs": {
            "folder": None, "name": "Eggs", "slug": "eggs", "position": 5, "agent": "demo",
            "address": "http://a.example", "protocol": "nlweb", "binding": "http",
            "version": "0.54", "document": {"query": {"text": "{{$uuid}}"}}, "headers": [],
            "auth": {}, "notes": "", "captures": {"a": "$.b"}, "reply": None,
            "expectations": [{"type": "status", "equals": 200}],
        }},
    )  # fmt: skip
    whole = json.loads(to_postman(mine))
    request = whole["item"][0]["request"]
    assert json.loads(request["body"]["raw"]) == {"query": {"text": "{{$guid}}"}}
    request["body"]["raw"] = '{"query": {"text": "{{$randomUUID}} ham"}}'
    whole["item"][0]["name"] = "Ham"
    text, _ = read_postman(json.dumps(whole))
    found = parse_fixture(text).requests["eggs"]
    assert found["document"] == {"query": {"text": "{{$uuid}} ham"}}
    assert (found["name"], found["agent"], found["position"]) == ("Ham", "demo", 5)
    assert found["expectations"] == [{"type": "status", "equals": 200}]
    assert found["captures"] == {"a": "$.b"}


def test_requests_of_each_kind_are_taken() -> None:
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
           "params": {"name": "ask", "arguments": {"query": {"text": "a"}}}}  # fmt: skip
    found, _ = imported(
        item(),
        item("Tool", body={"mode": "raw", "raw": json.dumps(rpc)}),
        item("Agent API", body={"mode": "raw", "raw": '{"input": [{"role": "user"}]}'}),
        item("Old", method="GET", body={}, url={
            "protocol": "https", "host": ["agent", "example"], "path": ["v1", {"value": "ask"}],
            "query": [{"key": "query", "value": "eggs"}, {"key": "no", "disabled": True}]}),
        item("Form", body={"mode": "urlencoded", "urlencoded": [
            {"key": "query", "value": "{{q}} & ham"},
            {"key": "site", "value": "x", "disabled": True}]}),
        {"name": "Address alone", "request": "https://agent.example/ask?query=a"},
        item("Path", url={
            "raw": "{{base}}/:site/ask", "variable": [{"key": "site", "value": "a\\1"}]}),
        item("Number", body={"mode": "raw", "raw": '{"query": {"n": {{n}}}}'}),
    )  # fmt: skip
    shown = {
        slug: (each["protocol"], each["binding"], each["version"], each["address"])
        for slug, each in found.requests.items()
    }
    latest = "0.55"
    assert shown == {
        "eggs": ("nlweb", "http", latest, URL),
        "tool": ("nlweb", "mcp", latest, URL),
        "agent-api": ("agent-api", "http", shown["agent-api"][2], URL),
        "old": ("nlweb", "http", "legacy", "https://agent.example/v1/ask"),
        "form": ("nlweb", "http", "legacy", URL),
        "address-alone": ("nlweb", "http", "legacy", URL),
        "path": ("nlweb", "http", latest, "{{base}}/a\\1/ask"),
        "number": ("nlweb", "http", latest, URL),
    }
    assert found.requests["form"]["document"]["query"] == {"text": "{{q}} & ham"}
    assert found.requests["number"]["document"] == {"query": {"n": "{{n}}"}}
    assert found.collection == {
        "name": "Theirs", "slug": "theirs", "description": "", "lesson": None
    }  # fmt: skip


def test_an_address_in_parts_keeps_its_port() -> None:
    parts = {"protocol": "http", "host": ["127", "0", "0", "1"], "port": "8000", "path": ["ask"]}
    assert only(item(url=parts))[0]["address"] == "http://127.0.0.1:8000/ask"
    assert only(item(url={**parts, "port": None}))[0]["address"] == "http://127.0.0.1/ask"
    parts = {"host": ["{{base}}"], "port": "8000", "path": ["ask", ":id"]}
    variable = [{"key": "id", "value": "7"}]
    address = only(item(url={**parts, "variable": variable}))[0]["address"]
    assert address == "{{base}}:8000/ask/7"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        pytest.param(
            {"body": {"mode": "raw", "raw": json.dumps({"query": {"text": "e" * 1_000_000}})}},
            "Invalid document: Longer than",
            id="document",
        ),
        pytest.param({"url": "https://a.example/\0"}, "Invalid address: Contains U+0000", id="nul"),
        pytest.param(
            {"header": [{"key": f"X-{number}", "value": "a"} for number in range(150)]},
            "Invalid headers: Must be an array of up to 100 pairs",
            id="headers",
        ),
        pytest.param(
            {"auth": {"type": "basic", "basic": {"username": "a\0", "password": "{{p}}"}}},
            "Invalid auth/user: Contains U+0000",
            id="user",
        ),
    ],
)
def test_one_request_that_cannot_be_kept_does_not_keep_the_others_out(
    request_: dict[str, Any], words: str
) -> None:
    found, remarks = imported(item("Odd", **request_), item("Ham"))
    assert list(found.requests) == ["ham"]
    assert [remark for remark in remarks if words in remark and "Skipped “Odd”" in remark]


def test_long_notes_are_cut_and_said_to_be() -> None:
    script = {"listen": "test", "script": {"exec": ["x = 1;\n" * 20_000]}}
    folder = {"name": "Hot", "item": [item()], "description": "y" * 200_000}
    found, remarks = imported({**item("Long"), "event": [script]}, folder, event=[script])
    assert found.collection is not None
    texts = [
        found.collection["description"],
        found.requests["long"]["notes"],
        found.folders["hot"]["description"],
    ]
    assert [len(text) for text in texts] == [MAX_TEXT] * 3
    assert all(text.endswith("…") for text in texts)
    places = [remark.partition(":")[0] for remark in remarks if "were truncated" in remark]
    assert sorted(places) == ["/info", "/item/0", "/item/1"]


def test_folders_are_one_level_deep() -> None:
    inner = {"name": "B", "item": [item("Two"), {"name": "C", "item": [item("Three")]}]}
    found, remarks = imported(
        {"name": "A", "description": {"content": "*x*"}, "item": [inner]}, item()
    )
    folders = {slug: folder["name"] for slug, folder in found.folders.items()}
    assert folders == {"a": "A", "a-b": "A / B", "a-b-c": "A / B / C"}
    assert found.folders["a"]["description"] == "*x*"
    places = {slug: request["folder"] for slug, request in found.requests.items()}
    assert places == {"eggs": None, "two": "a-b", "three": "a-b-c"}
    assert any("Folders cannot be nested. Imported as “A / B”" in remark for remark in remarks)


def test_scripts_are_kept_as_notes_and_never_run() -> None:
    event = [
        {"listen": "prerequest", "script": {"exec": ["pm.sendRequest(1)", "// ```` evil"]}},
        {"listen": "test", "script": {"exec": "pm.test('a')"}},
        {"listen": "test", "script": {"exec": []}},
        7,
    ]
    found, remarks = imported({**item(description="About."), "event": event}, event=event[1:2])
    notes = found.requests["eggs"]["notes"]
    assert notes.startswith("About.\n\nPre-request script (not run):")
    assert "`````js\npm.sendRequest(1)\n// ```` evil\n`````" in notes
    assert "Post-response script" in notes
    assert found.collection
    assert "pm.test('a')" in found.collection["description"]
    assert "3 scripts were saved as notes. They are not run." in remarks


def test_variables_are_listed_and_secret_ones_without_their_value() -> None:
    variables = [
        {"key": "base", "value": "https://a.example"}, {"key": "n", "value": 3},
        {"key": "api_key", "value": "hidden1"}, {"key": "x", "value": "hidden2", "type": "secret"},
        {"value": 1}, 5,
    ]  # fmt: skip
    found, remarks = imported(item(), variable=variables)
    assert found.collection
    text = found.collection["description"]
    assert "- `base`: `https://a.example`\n- `n`: `3`\n- `api_key`: omitted" in text
    assert "hidden" not in text
    assert any("create an environment" in remark for remark in remarks)


def rows(**settings_: str) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in settings_.items()]


AUTH: dict[str, tuple[Any, dict[str, str], str]] = {
    "none": ({"type": "noauth"}, {"type": "none"}, ""),
    "bearer": (
        {"type": "bearer", "bearer": rows(token="{{t}}")}, {"type": "bearer", "secret": "t"}, "",
    ),
    "bearer, a value": (
        {"type": "bearer", "bearer": rows(token="hidden")}, {"type": "bearer", "secret": "token"},
        "Store it as the secret “token”",
    ),
    "bearer, as 2.0 wrote it": (
        {"type": "bearer", "bearer": {"token": "{{t}}"}}, {"type": "bearer", "secret": "t"}, "",
    ),
    "bearer, empty": (
        {"type": "bearer"}, {"type": "bearer", "secret": "token"}, "has no value yet",
    ),
    "basic": (
        {"type": "basic", "basic": rows(username="me", password="hidden")},
        {"type": "basic", "user": "me", "secret": "password"}, "secret “password”",
    ),
    "key": (
        {"type": "apikey", "apikey": rows(key="X-Key", value="hidden")},
        {"type": "api_key", "header": "X-Key", "secret": "api-key"}, "secret “api-key”",
    ),
    "key in no header": (
        {"type": "apikey", "apikey": rows(key="a b", value="hidden")}, {}, "not a valid header",
    ),
    "key in the address": (
        {"type": "apikey", "apikey": rows(**{"in": "query", "value": "hidden"})}, {},
        "an API key in the URL",
    ),
    "another": ({"type": "oauth2", "oauth2": rows(accessToken="hidden")}, {}, "“oauth2”"),
    "nothing": ({}, {}, ""),
}  # fmt: skip


@pytest.mark.parametrize("inherited", [False, True])
@pytest.mark.parametrize("name", AUTH)
def test_who_asks_is_a_reference_and_never_a_value(name: str, inherited: bool) -> None:
    auth, expected, words = AUTH[name]
    found, remarks = only(item(), auth=auth) if inherited else only(item(auth=auth))
    assert found["auth"] == expected
    assert "hidden" not in json.dumps([found, remarks])
    assert words in " ".join(remarks)


def test_credentials_in_headers_and_addresses_are_left_out() -> None:
    header = [
        {"key": "Authorization", "value": "Bearer hidden"}, {"key": "X-Own", "value": "kept"},
        {"key": "Postman-Token", "value": "p"}, {"key": "X-Off", "value": "o", "disabled": True},
        {"key": "traceparent", "value": f"00-{'a' * 32}-{'b' * 16}-01"},
    ]  # fmt: skip
    found, remarks = only(item(header=header, url=f"{URL}?api_key=hidden"))
    assert found["headers"] == [["Authorization", ""], ["X-Own", "kept"]]
    assert found["address"] == f"{URL}?api_key="
    assert "hidden" not in json.dumps(remarks)
    assert any("Postman-Token, traceparent" in remark for remark in remarks)
    found, _ = only(item(header="Authorization: Bearer {{t}}\nX-Own: kept"))
    assert (found["auth"], found["headers"]) == (
        {"type": "bearer", "secret": "t"}, [["X-Own", "kept"]],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (item("X", method="DELETE"), "Skipped “X”. Unsupported method DELETE"),
        (item("X", url={}), "has no URL"),
        (item("X", url="http://[a"), "is not a valid URL"),
        (item("X", url="x" * 2_001), "longer than 2,000 characters"),
        (item("X", body={"mode": "raw", "raw": "hello"}), "not valid JSON: Line 1"),
        (item("X", body={"mode": "file", "file": {"src": "/etc/passwd"}}), "mode: file"),
        (item("X", body={"mode": "graphql", "graphql": {}}), "mode: graphql"),
        (
            item("X", body={"mode": "formdata", "formdata": [{"key": "a", "type": "file"}]}),
            "File uploads",
        ),
        (item("X", body={"mode": "formdata", "formdata": [{"key": "a"}]}), "Multipart form"),
        (item("X", body={**EGGS, "disabled": True}), "No body and no query parameters"),
        (item("X", body={"mode": "none"}), "No body and no query parameters"),
        ({"name": "X"}, "neither a request nor a folder"),
        (7, "not a valid item"),
    ],
)
def test_what_is_no_request_to_an_agent_is_left_out_with_the_reason(
    request_: Any, words: str
) -> None:
    found, remarks = imported(item(), request_)
    assert list(found.requests) == ["eggs"]
    (remark,) = remarks
    assert remark.startswith("/item/1: ")
    assert words in remark


def test_variables_of_an_address_that_name_one_another_do_not_multiply() -> None:
    names = [f"v{number}" for number in range(20)]
    pairs = itertools.pairwise(names)
    variables = [{"key": one, "value": f":{other}/:{other}"} for one, other in pairs]
    url = {"raw": f"http://a.example/:{names[0]}", "variable": variables}
    tracemalloc.start()
    try:
        found, remarks = imported(item(), item("X", url=url))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert list(found.requests) == ["eggs"]
    assert "longer than 2,000 characters" in remarks[0]
    assert peak < 1_000_000


def test_saved_replies_are_left_out() -> None:
    _, remarks = only({**item(), "response": [{"name": "x"}]})
    assert remarks == ["/item/0: Skipped the saved responses."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"info": {}, "item": 7}', "an array “item”"),
        ('{"info": 7, "item": []}', "an array “item”"),
        ('{"id": "x", "order": [], "requests": []}', "Postman Collection 1"),
        ('{"info": {"name": "x"}, "item": [', "incomplete"),
        ('{"info": {}, "item": [], "item": []}', "Duplicate name"),
    ],
)
def test_what_is_no_collection_is_refused(text: str, words: str) -> None:
    assert is_postman(text)
    with pytest.raises(FixtureError) as caught:
        import_formats.parse_import(text)
    assert words in str(caught.value)


def test_other_files_are_not_taken_for_one() -> None:
    for text in ("", "[]", "{}", '{"log": {}}', '"info" "item"'):
        assert not is_postman(text)


def test_thousands_of_one_name_are_told_apart_at_once() -> None:
    found, _ = imported(*[item()] * 3_000)
    assert len(found.requests) == 3_000


@given(
    values(["name", "request", "item", "url", "raw", "body", "mode", "auth", "type", "event",
            "script", "exec", "header", "key", "value", "_nlweb", "slug", "document"],
           ["raw", "POST", "bearer", URL, EGGS["raw"]]),
)  # fmt: skip
@example({"document": None})
def test_nothing_that_claims_to_be_a_collection_breaks_anything(value: Any) -> None:
    for whole in (collection(value), collection(item(body=value, url=value, auth=value)),
                  collection({**item(), "_nlweb": value, "event": value, "name": value}),
                  collection(variable=value, auth=value, event=value)):  # fmt: skip
        with contextlib.suppress(FixtureError):
            assert import_formats.parse_import(json.dumps(whole)).fixture.collection


def test_where_nothing_can_be_imported_only_the_reasons_are_told() -> None:
    whole = {
        "info": {"name": "Soups"},
        "item": [{"name": "Eggs", "request": {"method": "DELETE", "url": "http://a.example"}}],
        "event": [{"listen": "test", "script": {"exec": ["x"]}}],
    }
    with pytest.raises(FixtureError) as error:
        read_postman(json.dumps(whole))
    assert str(error.value).split("\n") == [
        "0 of 1 requests can be imported.",
        "/item/0: Skipped “Eggs”. Unsupported method DELETE. Use GET or POST.",
    ]


@pytest.mark.django_db
def test_a_collection_goes_out_as_postman_knows_it() -> None:
    kept = example_collections.example()
    SavedRequest.objects.filter(slug="leek").update(
        binding="mcp", auth={"type": "bearer", "secret": "token"}, version="0.55"
    )
    whole = json.loads(to_postman(fixture_of(kept)))
    assert whole["info"]["schema"] == SCHEMA
    assert (whole["info"]["name"], whole["info"]["description"]) == (
        "Soups",
        "What we ask *often*.",
    )
    assert [each["name"] for each in whole["item"]] == ["First", "Hot", "Cold"]
    assert {"key": "trace", "value": ""} in whole["variable"]
    first, leek = whole["item"][0]["request"], whole["item"][1]["item"][1]["request"]
    assert (first["method"], first["url"]) == ("POST", {"raw": "http://127.0.0.1:8000/demo/ask"})
    assert json.loads(first["body"]["raw"])["query"] == {"text": "soup: First"}
    assert {"key": "X-Trace", "value": "{{trace}}"} in first["header"]
    assert first["description"] == "About First."
    assert "auth" not in first
    assert json.loads(leek["body"]["raw"])["params"]["name"] == "ask"
    assert leek["auth"]["bearer"] == [{"key": "token", "value": "{{token}}", "type": "string"}]
