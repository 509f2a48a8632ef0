"""Collections: the list, one with its parts, page by page; parts edited, moved and copied."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from playground.collections import ordering, outline, views
from playground.models import Agent, Collection, Folder, SavedRequest
from playground.site import sidebar
from tests.support.collections import HTMX, make_collection, names, order, saved, url
from tests.support.markup import one_line, read

pytestmark = pytest.mark.database

#: The page of a collection with many folders, and its branch of the sidebar.
MANY = "/collections/many/"
BRANCH = "/sidebar/many/"


def texts(address: str) -> str:
    response = Client().get(address)
    assert response.status_code == 200
    return read(one_line(response)).words


def test_without_any_the_list_says_what_they_are_for() -> None:
    page = texts("/collections/")
    assert "No collections yet A collection stores requests" in page


def test_the_list_counts_what_is_in_them() -> None:
    make_collection("Soups", "a b", hot="c")
    collection = make_collection("Empty")
    Collection.objects.filter(pk=collection.pk).update(description="Not *much* yet.")
    page = texts("/collections/")
    assert "Soups 3 requests" in page
    assert "Empty 0 requests" in page
    assert "Not much yet." in page


def test_making_one_opens_it(client: Client) -> None:
    make_collection("First")
    response = client.post("/collections/", {"name": "Second", "description": "a\r\nb\rc"})
    assert (response.status_code, response["Location"]) == (302, "/collections/second/")
    assert "collections:changed" in response["HX-Trigger"]
    made = Collection.objects.get(slug="second")
    assert (made.description, made.owner) == ("a\nb\nc", None)
    assert [each.name for each in Collection.objects.all()] == ["First", "Second"]


def test_a_name_that_another_one_has_gets_another_address(client: Client) -> None:
    make_collection("Soups")
    client.post("/collections/", {"name": "Soups"})
    client.post("/collections/", {"name": "Import"})
    assert set(Collection.objects.values_list("slug", flat=True)) == {
        "soups", "soups-2", "import-2",
    }  # fmt: skip


def test_its_requests_in_order_with_what_is_known_of_them() -> None:
    Agent.objects.create(name="My kitchen", url="http://a.example")
    collection = make_collection("Recipes", "b", folder="")
    saved(
        collection,
        "a",
        position=1,
        agent="my-kitchen",
        binding="mcp",
        notes="Look at the *summary*.",
        expectations=[{"type": "state", "equals": "completed"}],
        reply={"frames": []},
    )
    saved(collection, "c", folder=Folder.objects.get(), agent="nobody", address="{{base}}/ask")
    assert names(url(collection)) == ["a", "b", "c"]
    page = texts(url(collection))
    assert (
        "a My kitchen NLWeb 0.55 · MCP 1 expectation recorded response Look at the summary." in page
    )
    assert "b no agent NLWeb 0.55" in page
    assert "Folder" in page
    assert "c {{base}}/ask NLWeb 0.55" in page


def test_folders_are_shown_in_their_order(client: Client) -> None:
    collection = make_collection("Recipes", "a", hot="b", cold="c")
    client.post("/collections/recipes/folders/cold/place/", {"step": "-1"})
    assert names(url(collection)) == ["a", "c", "b"]
    tree = client.get("/sidebar/recipes/").text
    assert tree.index("recipes/cold") < tree.index("recipes/hot")


def test_an_empty_one_says_how_to_fill_it() -> None:
    assert "No requests yet" in texts(url(make_collection()))
    folders = make_collection("Others", hot="")
    assert "This folder is empty" in texts(url(folders))


def test_a_long_one_comes_in_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "PAGE", 2)
    monkeypatch.setattr(outline, "FIRST", 3)
    collection = make_collection("Long", "a b c", hot="d e", cold="f")
    page = one_line(client.get(url(collection)))
    assert names(url(collection)) == ["a", "b", "d"]
    assert [part in page for part in ("Show more of 1", "Show more of 2")] == [True, False]
    base = f"/collections/{collection.slug}/outline/"
    assert names(f"{base}?folder=&from=2") == ["c"]
    assert names(f"{base}?folder=hot&from=1") == ["e"]
    assert names(f"{base}?folder=cold&from=0") == ["f"]
    assert names(f"{base}?folder=cold&from=x") == ["f"]
    assert names(f"{base}?folder=cold&from=99999999") == []


def test_names_are_text_and_descriptions_are_sanitised(client: Client) -> None:
    evil = '<img src=x onerror=alert(1)>"'
    collection = make_collection(evil, loose="", hot="")
    Collection.objects.update(description=f"{evil} [x](javascript:alert(1))")
    Folder.objects.update(name=evil, description=evil)
    saved(collection, evil, notes=evil, agent=evil, address=evil)
    for address in ("/collections/", url(collection), "/sidebar/", f"/sidebar/{collection.slug}/"):
        page = read(client.get(address))
        assert not page.find("img"), address
        assert not [each for each in page.elements if "onerror" in each.attributes], address


def test_moving_among_the_others(client: Client) -> None:
    for name in ("One", "Two", "Three"):
        client.post("/collections/", {"name": name})
    for fields, wanted in [
        ({"step": "-1"}, "One Three Two"),
        ({"before": "one"}, "Three One Two"),
        ({"after": "two"}, "One Two Three"),
        ({"step": "x"}, "One Two Three"),
    ]:
        response = client.post("/collections/three/place/", fields)
        assert response["Location"] == "/collections/three/"
        assert " ".join(each.name for each in Collection.objects.all()) == wanted
    assert client.post("/collections/three/place/", {}, headers=HTMX).status_code == 204


def test_a_duplicate_holds_the_same_and_changes_alone(client: Client) -> None:
    collection = make_collection("Soups", "a b", hot="c")
    make_collection("Others")
    response = client.post("/collections/soups/duplication/")
    twin = Collection.objects.get(slug="soups-2")
    assert response["Location"] == "/collections/soups-2/"
    assert (twin.name, order(twin)) == ("Soups 2", "a b | Hot: c")
    assert [each.name for each in Collection.objects.all()] == ["Soups", "Soups 2", "Others"]
    twin.requests.update(name="changed")
    assert order(collection) == "a b | Hot: c"
    client.post("/collections/soups-2/duplication/")
    assert Collection.objects.filter(name="Soups 3").exists()


@pytest.mark.parametrize(
    "path",
    ["deletion/", "duplication/", "place/", "folders/hot/deletion/", "requests/a/deletion/"],
)
def test_nothing_is_changed_by_looking(client: Client, path: str) -> None:
    collection = make_collection("Soups", "a", hot="c")
    client.get(f"{url(collection)}{path}")
    assert order(collection) == "a | Hot: c"
    assert Collection.objects.count() == 1


def test_what_is_not_there_is_not_found(client: Client) -> None:
    make_collection("Soups", "a", hot="c")
    for path in (
        "gone/", "gone/details/", "soups/folders/gone/details/", "soups/requests/gone/details/",
        "soups/requests/gone/notes/", "gone/outline/",
    ):  # fmt: skip
        assert client.get(f"/collections/{path}").status_code == 404, path


def test_the_queries_of_a_page_do_not_grow_with_it(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    collection = make_collection("Soups", " ".join(f"a{n}" for n in range(40)), hot="c")
    with django_assert_max_num_queries(14):
        client.get(url(collection))


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> Collection:
    """Five folders with two requests each, of which two are shown at a time."""
    monkeypatch.setattr(outline, "FOLDERS", 2)
    monkeypatch.setattr(sidebar, "FOLDERS", 2)
    return make_collection("Many", "x", a="a1 a2", b="b1 b2", c="c1 c2", d="d1 d2", e="e1 e2")


def more(client: Client, address: str) -> tuple[list[str], str]:
    """The folders that an address shows, and where those are that follow."""
    page = one_line(client.get(address))
    found = re.search(r'hx-get="([^"]*\?folders=[^"]*)"', page)
    folders = re.findall(r'id="folder-([a-z]+)" data-item|data-key="many/([a-z]+)"', page)
    return ["".join(each) for each in folders], found[1] if found else ""


def through(client: Client, address: str) -> list[list[str]]:
    """The folders of all pages from an address on."""
    found = []
    while address:
        folders, address = more(client, address)
        found.append(folders)
    return found


@pytest.mark.parametrize("address", [MANY, BRANCH])
def test_folders_come_in_pages(client: Client, many: Collection, address: str) -> None:
    assert through(client, address) == [["a", "b"], ["c", "d"], ["e"]]


def test_requests_come_with_their_folders(client: Client, many: Collection) -> None:
    assert names(MANY) == ["x", "a1", "a2", "b1", "b2"]
    _, following = more(client, MANY)
    assert names(following) == ["c1", "c2", "d1", "d2"]


@pytest.mark.parametrize("address", [MANY, BRANCH])
def test_what_changes_between_two_pages_loses_no_folder(
    client: Client, many: Collection, address: str
) -> None:
    _, following = more(client, address)
    client.post(f"{MANY}folders/a/deletion/")
    client.post(f"{MANY}folders/", {"name": "new"})  # The open page shows it already.
    assert through(client, following) == [["c", "d"], ["e"]]


def test_of_one_place_each_comes_once(client: Client, many: Collection) -> None:
    many.folders.update(position=7)
    assert through(client, MANY) == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.parametrize("mark", ["x", "1", "1-2", "9999999999-1-1", "1-1-1-1", "٣-1-1"])
@pytest.mark.parametrize("base", [f"{MANY}outline/", BRANCH])
def test_any_mark(client: Client, many: Collection, base: str, mark: str) -> None:
    assert client.get(base, {"folders": mark}).status_code == 200


def test_those_that_were_unfolded_come_unfolded(client: Client, many: Collection) -> None:
    client.cookies["playground_unfolded"] = "many/c"
    _, following = more(client, BRANCH)
    assert "c2" in client.get(following).text


def test_a_thousand_folders_cost_what_a_few_do(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    collection = make_collection("Many")
    Folder.objects.bulk_create(
        Folder(collection=collection, name=f"F {n}", slug=f"f-{n}", position=n) for n in range(1000)
    )
    SavedRequest.objects.bulk_create(
        SavedRequest(collection=collection, folder=folder, name="r", slug=f"r-{folder.pk}")
        for folder in collection.folders.all()
    )
    client.cookies["playground_unfolded"] = "many"
    for address, most in ((url(collection), 160_000), (BRANCH, 60_000), ("/", 120_000)):
        with django_assert_max_num_queries(80):
            page = client.get(address).content
        assert len(page) < most, address


FOLDER = "/collections/soups/folders/hot/place/"


@pytest.fixture
def soups() -> Collection:
    return make_collection("Soups", "a b c", hot="d e", cold="")


def test_a_new_folder_comes_last(client: Client, soups: Collection) -> None:
    assert 'name="name"' in client.get("/collections/soups/folders/").text
    response = client.post("/collections/soups/folders/", {"name": "Sweet"})
    assert response["Location"] == "/collections/soups/#folder-sweet"
    assert order(soups) == "a b c | Hot: d e | Cold: | Sweet:"


def test_from_the_page_the_folder_is_put_below(client: Client, soups: Collection) -> None:
    response = client.post("/collections/soups/folders/", {"name": "Sweet"}, headers=HTMX)
    part = read(response)
    assert part.elements[0].attributes["id"] == "folder-sweet"
    assert "collections:changed" in response["HX-Trigger"]


#: URLs below that of a collection, the field with the text, and the element that is replaced.
PARTS = {
    "collection": ("", "description", "collection-head"),
    "folder": ("folders/hot/", "description", ""),
    "request": ("requests/a/", "notes", "request-a"),
}


@pytest.mark.parametrize(("path", "text", "element"), PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
def test_a_part_is_renamed_and_described(
    client: Client,
    soups: Collection,
    path: str,
    text: str,
    element: str,
    headers: dict[str, str],
) -> None:
    request = SavedRequest.objects.get(slug="a")
    address = f"/collections/soups/{path}details/"
    assert 'name="name"' in client.get(address).text
    fields = {"name": "Warm", text: "one\r\n\r\n*two*"}
    response = client.post(address, fields, headers=headers)
    if headers:
        shown = read(response)
        assert shown.elements[0].attributes.get("id", "") == element
        assert "Warm" in shown.text
        assert json.loads(response["HX-Trigger"]) == {"collections:changed": {}}
    else:
        assert response["Location"] == "/collections/soups/"
    # The slug stays.
    form = client.get(address).text
    assert 'value="Warm"' in form
    assert "one\n\n*two*" in form
    notes = "requests/a/notes/" if text == "notes" else ""
    assert "<em>two</em>" in client.get(f"/collections/soups/{notes}").text
    # What it sends is as it was: a tab that has it open may go on saving into it.
    after = SavedRequest.objects.get(slug="a")
    assert (after.document, after.modified_at) == (request.document, request.modified_at)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "  "}, "This field is required."),
        ({"name": "a" * 121}, "at most 120 characters"),
        ({"name": "a\x00b"}, "Null characters"),
        ({"name": "a", "description": "b" * 50_001, "notes": "b" * 50_001}, "at most 50000"),
    ],
    ids=["none", "spaces", "long", "null", "text"],
)
@pytest.mark.parametrize(
    "path", ["", "soups/folders/", *(f"soups/{path}details/" for path, *_ in PARTS.values())]
)
def test_mistakes_are_said_beside_the_field(
    client: Client, soups: Collection, path: str, fields: dict[str, str], message: str
) -> None:
    address = f"/collections/{path}"
    response = client.post(address, fields)
    assert response.status_code == 422
    page = response.text
    assert message in page
    assert 'aria-invalid="true"' in page
    part = client.post(address, fields, headers=HTMX)
    assert (part["HX-Retarget"], part["HX-Reswap"]) == ("#sheet-body", "innerHTML")
    assert "<html" not in part.text
    assert Collection.objects.get().name == "Soups"
    assert order(soups) == "a b c | Hot: d e | Cold:"


@pytest.mark.parametrize("part", ["requests/a/", "folders/hot/"])
def test_without_scripts_the_menu_is_a_page_with_the_same_actions(
    client: Client, soups: Collection, part: str
) -> None:
    place = f"/collections/soups/{part}"
    assert read(client.get("/collections/soups/")).select("a", href=f"{place}details/")
    page = read(client.get(f"{place}details/"))
    forms = {form.attributes["action"] for form in page.find("form")}
    assert {f"{place}{path}/" for path in ("details", "place", "duplication", "deletion")} <= forms
    assert page.select("a", href=f"{place}place/")


@pytest.mark.parametrize(
    ("slug", "fields", "wanted"),
    [
        ("a", {"step": "1"}, "b a c | Hot: d e | Cold:"),
        ("a", {"step": "-1"}, "a b c | Hot: d e | Cold:"),
        ("c", {"before": "a"}, "c a b | Hot: d e | Cold:"),
        ("a", {"after": "c"}, "b c a | Hot: d e | Cold:"),
        ("a", {"folder": "hot", "before": "e"}, "b c | Hot: d a e | Cold:"),
        ("a", {"folder": "cold"}, "b c | Hot: d e | Cold: a"),
        ("d", {"folder": "", "after": "a"}, "a d b c | Hot: e | Cold:"),
        ("d", {"folder": ""}, "a b c d | Hot: e | Cold:"),
        ("d", {"step": "1"}, "a b c | Hot: e d | Cold:"),
        # Beside something that is elsewhere by now: at the end.
        ("a", {"folder": "hot", "after": "b"}, "b c | Hot: d e a | Cold:"),
        ("a", {"step": "many"}, "a b c | Hot: d e | Cold:"),
    ],
    ids=str,
)
def test_requests_are_put_in_order(
    client: Client, soups: Collection, slug: str, fields: dict[str, str], wanted: str
) -> None:
    response = client.post(url(soups, f"{slug}/place/"), fields)
    assert response["Location"] == "/collections/soups/"
    assert order(soups) == wanted
    part = client.post(url(soups, f"{slug}/place/"), fields | {"step": "0"}, headers=HTMX)
    assert (part.status_code, part.content) == (204, b"")


def test_into_a_folder_that_is_gone_is_refused(client: Client, soups: Collection) -> None:
    assert client.post(url(soups, "a/place/"), {"folder": "gone"}).status_code == 404
    assert order(soups) == "a b c | Hot: d e | Cold:"


def test_moving_one_between_others_changes_no_other(client: Client, soups: Collection) -> None:
    before = dict(SavedRequest.objects.exclude(slug="c").values_list("slug", "position"))
    client.post(url(soups, "c/place/"), {"after": "a"})
    assert dict(SavedRequest.objects.exclude(slug="c").values_list("slug", "position")) == before


def test_requests_that_stand_at_the_same_number_can_be_put_in_order(client: Client) -> None:
    collection = make_collection("Soups", "a b c d")
    collection.requests.update(position=7)
    client.post(url(collection, "d/place/"), {"after": "a"})
    assert order(collection) == "a d b c"


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"step": "-1"}, "a b c | Cold: | Hot: d e"),
        ({"before": "hot"}, "a b c | Cold: | Hot: d e"),
        ({"after": "hot"}, "a b c | Hot: d e | Cold:"),
        ({"step": "x"}, "a b c | Hot: d e | Cold:"),
    ],
    ids=str,
)
def test_folders_are_put_in_order(
    client: Client, soups: Collection, fields: dict[str, str], wanted: str
) -> None:
    client.post("/collections/soups/folders/cold/place/", fields)
    assert order(soups) == wanted


def test_the_way_to_another_place_is_offered(client: Client, soups: Collection) -> None:
    make_collection("Others", warm="")
    page = client.get(url(soups, "a/place/")).text
    options = [each.attributes["value"] for each in read(page).find("option")]
    assert options == ["soups", "soups/hot", "soups/cold", "others", "others/warm"]


@pytest.mark.parametrize(
    ("to", "here", "there"),
    [
        ("soups/cold", "b c | Hot: d e | Cold: a", "a x | Warm: y"),
        ("soups", "b c a | Hot: d e | Cold:", "a x | Warm: y"),
        ("others", "b c | Hot: d e | Cold:", "a x a | Warm: y"),
        ("others/warm", "b c | Hot: d e | Cold:", "a x | Warm: y a"),
    ],
)
def test_a_request_goes_to_another_place(
    client: Client, soups: Collection, to: str, here: str, there: str
) -> None:
    others = make_collection("Others", "a x", warm="y")
    response = client.post(url(soups, "a/place/"), {"to": to})
    assert response["Location"] == f"/collections/{to.partition('/')[0]}/"
    assert (order(soups), order(others)) == (here, there)
    part = client.post(url(soups, "b/place/"), {"to": "others"}, headers=HTMX)
    assert part["HX-Redirect"] == "/collections/others/"


def test_a_request_that_goes_keeps_its_slug_where_it_is_free(
    client: Client, soups: Collection
) -> None:
    others = make_collection("Others", "a")
    for slug in ("a", "b"):
        client.post(url(soups, f"{slug}/place/"), {"to": "others"})
    assert set(others.requests.values_list("slug", flat=True)) == {"a", "a-2", "b"}


@pytest.mark.parametrize("to", ["gone", "soups/gone", "/", ""])
def test_to_a_place_that_is_gone_nothing_goes(client: Client, soups: Collection, to: str) -> None:
    assert client.post(url(soups, "a/place/"), {"to": to}).status_code == 404
    assert order(soups) == "a b c | Hot: d e | Cold:"


def test_a_folder_goes_with_its_requests(client: Client, soups: Collection) -> None:
    others = make_collection("Others", "d", hot="x")
    response = client.post("/collections/soups/folders/hot/place/", {"collection": "others"})
    assert response["Location"] == "/collections/others/"
    assert order(soups) == "a b c | Cold:"
    assert order(others) == "d | Hot: x | Hot: d e"
    assert set(others.requests.values_list("slug", flat=True)) == {"d", "x", "d-2", "e"}
    assert set(others.folders.values_list("slug", flat=True)) == {"hot", "hot-2"}


def test_a_request_is_made_twice(client: Client, soups: Collection) -> None:
    fields: dict[str, Any] = {
        "agent": "demo", "address": "{{base}}", "headers": [["X-A", "1"]], "auth": {"type": "none"},
        "notes": "*n*", "expectations": [{"type": "state"}], "captures": {"id": "$.x"},
        "reply": {"frames": []}, "binding": "mcp", "version": "0.54",
    }  # fmt: skip
    saved(soups, "whole", folder=Folder.objects.get(slug="hot"), position=1, **fields)
    response = client.post(url(soups, "whole/duplication/"), headers=HTMX)
    assert read(response).elements[0].attributes["id"] == "request-whole-2"
    twin = SavedRequest.objects.get(slug="whole-2")
    assert {name: getattr(twin, name) for name in fields} == fields
    assert order(soups) == "a b c | Hot: whole whole 2 d e | Cold:"
    assert client.post(url(soups, "a/duplication/"))["Location"] == "/collections/soups/"
    assert order(soups).startswith("a a 2 b c |")


def test_a_folder_is_made_twice(client: Client, soups: Collection) -> None:
    response = client.post("/collections/soups/folders/hot/duplication/")
    assert response["Location"] == "/collections/soups/#folder-hot-2"
    assert order(soups) == "a b c | Hot: d e | Hot 2: d e | Cold:"
    slugs = soups.requests.values_list("slug", flat=True)
    assert len(set(slugs)) == len(slugs) == 7


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["Soup"], "Soup 2"),
        (["Soup", "Soup 2"], "Soup 3"),
        (["Soup 2", "Soup"], "Soup 3"),
        (["Soup 9"], "Soup 2"),
        (["2"], "2 2"),
        (["Soup 55555"], "Soup 55555 2"),
        (["a" * 120], "a" * 110 + " 2"),
    ],
    ids=lambda each: each[-1][:12] if isinstance(each, list) else each[:12],
)
def test_the_name_of_a_duplicate(names: list[str], wanted: str) -> None:
    collection = make_collection("Soups")
    *_, last = [saved(collection, name) for name in names]
    assert ordering.duplicate_request(last).name == wanted


def test_every_change_marks_the_collection(client: Client, soups: Collection) -> None:
    changes = [
        ("details/", {"name": "Soups"}),
        ("requests/a/place/", {"step": "1"}),
        ("requests/a/details/", {"name": "a"}),
        ("requests/a/duplication/", {}),
        ("folders/", {"name": "x"}),
        ("folders/hot/details/", {"name": "x"}),
        ("folders/hot/place/", {"step": "1"}),
        ("folders/hot/duplication/", {}),
        ("requests/a/deletion/", {}),
        ("folders/hot/deletion/", {}),
    ]
    for path, fields in changes:
        before = Collection.objects.get().modified_at
        client.post(f"/collections/soups/{path}", fields)
        assert Collection.objects.get().modified_at > before, path


@pytest.fixture
def hot() -> Collection:
    return make_collection("Soups", "a", hot="d e", cold="f")


@pytest.fixture
def others() -> Collection:
    return make_collection("Others", "d", hot="x")


def undo_of(page: str) -> str:
    found = re.search(r'action="(/collections/others/folders/[^"]*\?back=[^"]*)"', page)
    assert found, page
    return found[1]


def test_the_other_collections_are_offered(
    client: Client, hot: Collection, others: Collection
) -> None:
    for headers in ({}, HTMX):
        page = read(client.get(FOLDER, headers=headers))
        assert [each.attributes["value"] for each in page.find("option")] == ["others"]


def test_there_is_no_other(client: Client, hot: Collection) -> None:
    page = client.get(FOLDER).text
    assert "There is no other collection." in page
    assert "Move folder" not in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "sheet"])
def test_a_move_can_be_undone(
    client: Client, hot: Collection, others: Collection, headers: dict[str, str]
) -> None:
    def state() -> list[object]:
        found: list[object] = [order(hot), order(others)]
        for each in (hot, others):
            found.append(sorted(each.folders.values_list("pk", "slug")))
            found.append(sorted(each.requests.values_list("pk", "slug")))
        return found

    before = state()
    client.post(FOLDER, {"collection": "others"}, headers=headers)
    page = client.get("/collections/others/").text
    assert "Hot was moved here." in page
    assert order(others) == "d | Hot: x | Hot: d e"
    response = client.post(undo_of(page), follow=True)
    assert response.redirect_chain == [("/collections/soups/", 302)]
    assert "Moved Hot back." in response.text
    assert state() == before


def test_undone_after_its_place_was_given_away(
    client: Client, hot: Collection, others: Collection
) -> None:
    page = client.post(FOLDER, {"collection": "others"}, follow=True).text
    client.post("/collections/soups/folders/cold/deletion/")
    client.post("/collections/soups/folders/", {"name": "Hot"})
    client.post(undo_of(page))
    assert order(hot) == "a | Hot: | Hot: d e"
    assert set(hot.folders.values_list("slug", flat=True)) == {"hot", "hot-2"}


def test_too_many_new_slugs_for_an_address_stay_new(
    client: Client, hot: Collection, others: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "_LONGEST", 10)
    page = client.post(FOLDER, {"collection": "others"}, follow=True).text
    client.post(undo_of(page))
    assert order(hot) == "a | Hot: d e | Cold: f"
    assert set(hot.requests.values_list("slug", flat=True)) == {"a", "d-2", "e", "f"}


@pytest.mark.parametrize("back", ["x", "e30:1w:a", "☃"])
def test_a_way_back_that_we_did_not_make(client: Client, hot: Collection, back: str) -> None:
    assert client.post(f"{FOLDER}?back={back}").status_code == 404
    assert order(hot) == "a | Hot: d e | Cold: f"


def test_the_way_back_of_a_collection_that_is_gone(
    client: Client, hot: Collection, others: Collection
) -> None:
    page = client.post(FOLDER, {"collection": "others"}, follow=True).text
    hot.delete()
    assert client.post(undo_of(page)).status_code == 404
    assert order(others) == "d | Hot: x | Hot: d e"
