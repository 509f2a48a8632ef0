"""Collections in the sidebar, and search in all of them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from playground.collections import search
from playground.models import Collection, Folder
from playground.site import sidebar
from tests.support.collections import HTMX, make_collection, saved
from tests.support.markup import one_line, read

pytestmark = pytest.mark.database


def links(html: str) -> list[str]:
    """The requests in a piece of the sidebar."""
    return [each.attributes["data-saved"] or "" for each in read(html).find("a")
            if "data-saved" in each.attributes]  # fmt: skip


def branch(client: Client, address: str) -> list[str]:
    return links(one_line(client.get(address)))


def test_without_any_it_says_what_they_are_for(client: Client) -> None:
    page = client.get("/sidebar/").text
    assert "Collections store requests" in page
    assert 'href="/collections/new/"' in page


def test_folded_it_holds_no_request(client: Client) -> None:
    make_collection("Soups", "a b", hot="c")
    page = client.get("/sidebar/").text
    assert links(page) == []
    assert "Soups3" in "".join(read(page).text.split())
    assert 'hx-get="/sidebar/soups/?folder="' in page


def test_what_is_unfolded_is_fetched(client: Client) -> None:
    make_collection("Soups", "a b", hot="c")
    assert branch(client, "/sidebar/soups/") == ["soups/a", "soups/b"]
    assert branch(client, "/sidebar/soups/?folder=hot") == ["soups/c"]
    assert "Empty" in client.get(f"/sidebar/{make_collection('x').slug}/").text


@pytest.mark.parametrize(
    ("cookie", "wanted"),
    [
        ("soups", ["soups/a", "soups/b"]),
        ("soups%20soups%2Fhot", ["soups/a", "soups/b", "soups/c"]),
        ("soups%2Fhot", []),
        ("gone%20soups", ["soups/a", "soups/b"]),
        ("%00%20..%2F..%20<b>", []),
        ("x%20" * 3000, []),
    ],
    ids=["one", "folder", "folder-only", "gone", "junk", "long"],
)
def test_what_the_browser_has_kept_unfolded_comes_with_the_page(
    client: Client, cookie: str, wanted: list[str]
) -> None:
    make_collection("Soups", "a b", hot="c")
    client.cookies[sidebar.COOKIE] = cookie
    assert branch(client, "/sidebar/") == wanted
    assert branch(client, "/") == wanted


def test_no_more_is_unfolded_than_fits(client: Client) -> None:
    for number in range(sidebar.MAX_OPEN + 3):
        make_collection(f"c{number}", "a")
    client.cookies[sidebar.COOKIE] = "%20".join(f"c{n}" for n in range(sidebar.MAX_OPEN + 3))
    assert len(branch(client, "/sidebar/")) == sidebar.MAX_OPEN


def test_a_long_one_comes_in_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidebar, "PAGE", 2)
    make_collection("Long", "a b c", hot="d e")
    first = client.get("/sidebar/long/").text
    assert links(first) == ["long/a", "long/b"]
    assert 'hx-get="/sidebar/long/?folder=&amp;from=2"' in first
    rest = client.get("/sidebar/long/?folder=&from=2").text
    assert links(rest) == ["long/c"]
    assert "Hot" not in rest
    assert "More requests" not in client.get("/sidebar/long/?folder=hot").text


# --- search --------------------------------------------------------------------------------------


def find(words: str) -> list[search.SearchHit]:
    """What is found, in the order in which it is shown."""
    found = search.search_collections(AnonymousUser(), words)
    return [hit for hits in found.groups.values() for hit in hits]


@pytest.fixture
def soups() -> Collection:
    collection = make_collection("Soups", "lentil noodle", hot="chili")
    Collection.objects.update(description="Everything *liquid* that is warm.")
    Folder.objects.update(description="Burns the tongue.")
    saved(collection, "Straße", notes="Say it with **umlauts**: Öl.", agent="kitchen")
    return collection


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("lentil", ["soups/lentil"]),
        ("LENT", ["soups/lentil"]),
        ("umlauts", ["soups/strae"]),
        ("straße", ["soups/strae"]),
        ("öl", ["soups/strae"]),
        ("kitchen", ["soups/strae"]),
        ("umlauts kitchen", ["soups/strae"]),
        ("umlauts lentil", []),
        ("nothing-of-that", []),
        ("%", []),
        ("_", []),
        ("'", []),
        ("", []),
    ],
)
def test_requests_are_found_by_all_that_is_in_them(
    client: Client, soups: Collection, words: str, wanted: list[str]
) -> None:
    html = client.get("/collections/search/", {"q": words}, headers=HTMX).text
    options = [each.attributes.get("data-saved") for each in read(html).find("li")]
    assert [each for each in options if each] == wanted


def test_collections_and_folders_are_found(client: Client, soups: Collection) -> None:
    html = client.get("/collections/search/", {"q": "liquid"}, headers=HTMX).text
    assert [each.attributes["data-href"] for each in read(html).find("li")] == [
        "/collections/soups/"
    ]
    html = client.get("/collections/search/", {"q": "tongue"}, headers=HTMX).text
    assert [each.attributes["data-href"] for each in read(html).find("li")] == [
        "/collections/soups/#folder-hot"
    ]


def test_what_is_sent_is_searched_as_it_was_written(client: Client, soups: Collection) -> None:
    document = {"query": {"text": 'crème "brûlée"\n\U0001f35a'}, "meta": {"a": [1.5, None]}}
    saved(soups, "sweet", document=document)
    for words in ("crème", "CRÈME", "brûlée", "\U0001f35a", "1.5", "null"):
        assert [hit.item.name for hit in find(words)] == ["sweet"], words


def test_the_place_is_marked(client: Client, soups: Collection) -> None:
    html = one_line(client.get("/collections/search/", {"q": "umlauts say"}))
    marked = html.replace("<mark >", "<mark>")
    assert "notes: <mark>Say</mark> it with **<mark>umlauts</mark>**: Öl." in marked
    html = one_line(client.get("/collections/search/", {"q": "noodle"}))
    assert "<mark >noodle</mark>" in html
    assert "notes:" not in html


def test_a_place_far_into_a_text_is_cut_out(soups: Collection) -> None:
    saved(soups, "long", notes="before " * 50 + "needle" + " after" * 50)
    (hit,) = find("needle")
    text = "".join(piece.text for piece in hit.excerpt)
    assert (text[0], text[-1]) == ("…", "…")
    assert "before needle after" in text
    assert len(text) < search.EXCERPT + 3
    assert [piece.text for piece in hit.excerpt if piece.marked] == ["needle"]


def test_what_is_named_so_comes_first(soups: Collection) -> None:
    saved(soups, "other", notes="noodle", position=1)
    assert [hit.item.name for hit in find("noodle")] == ["noodle", "other"]


def test_there_is_a_limit_and_it_is_said(
    client: Client, soups: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "LIMIT", 2)
    page = client.get("/collections/search/", {"q": "query"}).text
    assert "More results" in page
    assert len(find("query")) == 2
    assert "More results" not in client.get("/collections/search/", {"q": "noodle"}).text


def test_the_page_without_words_and_without_results(client: Client, soups: Collection) -> None:
    assert "Search all collections" in client.get("/collections/search/").text
    page = client.get("/collections/search/", {"q": "<b>x"}).text
    assert "No results for “&lt;b&gt;x”" in page


def test_what_was_found_is_text(client: Client, soups: Collection) -> None:
    saved(soups, "<img src=x>", notes="<script>findme</script>", slug="evil")
    for headers in ({}, HTMX):
        html = client.get("/collections/search/", {"q": "findme"}, headers=headers).text
        assert ">findme</mark>" in html
        assert not read(html).find("img")
        assert "<script>findme" not in html
