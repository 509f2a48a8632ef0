"""Import and export: collections and their files, cURL, requests as code, saved responses."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from playground.collections import fixture
from playground.collections.recordings import record
from playground.import_export.views import compress_text, decompress_text
from playground.models import Agent, Collection, Environment, Run, SavedRequest
from tests.import_export.test_har import CALL as POSTED
from tests.support import example_collections
from tests.support.example_collections import COLLECTION, FOLDER, REQUEST, with_fields
from tests.support.servers import Script, head, reply, serve
from tests.support.stored_runs import END, HEAD, OPEN, recorded, result
from tests.views.conftest import form

pytestmark = pytest.mark.database
PAGE = "/collections/import/"
TEXT = json.dumps([COLLECTION, FOLDER, REQUEST])


def packed(html: str) -> str:
    found = re.search(r'name="packed" value="([^"]*)"', html)
    assert found
    return found[1]


def confirm(client: Client, html: str, how: str = "yes", **more: str) -> Any:
    return client.post(PAGE, {"packed": packed(html), "source": "x", "confirmed": how, **more})


def text_in(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


class TestImport:
    def test_the_form(self, client: Client) -> None:
        html = client.get(PAGE).text
        assert 'enctype="multipart/form-data"' in html
        assert "Playground collection" in html

    def test_a_preview_changes_nothing_and_the_import_does_what_it_says(
        self, client: Client
    ) -> None:
        answer = client.post(PAGE, {"text": TEXT})
        assert answer.status_code == 200
        shown = text_in(answer.text)
        assert "Import Soups ?" in shown
        assert "Added 3 collection Soups folder Hot request Leek" in shown
        assert not Collection.objects.exists()
        done = confirm(client, answer.text)
        assert done.status_code == 302
        assert done["Location"] == "/collections/soups/"
        assert SavedRequest.objects.get().folder is not None

    def test_an_upload(self, client: Client) -> None:
        upload = SimpleUploadedFile("soups.json", TEXT.encode())
        answer = client.post(PAGE, {"file": upload})
        assert "from soups.json" in text_in(answer.text)
        confirm(client, answer.text)
        assert Collection.objects.get().slug == "soups"

    def test_it_shows_what_is_added_changed_and_left_alone(self, client: Client) -> None:
        collection = example_collections.example()
        text = fixture.dump(collection)
        collection.requests.filter(slug="leek").update(notes="Old note.\nStays.")
        collection.requests.filter(slug="first").delete()
        SavedRequest.objects.create(collection=collection, name="Mine", document={})
        html = client.post(PAGE, {"text": text}).text
        shown = text_in(html)
        assert "Added 1 request First" in shown
        assert "Changed 1 request Leek notes notes − Old note. − Stays. + About Leek." in shown
        assert "Unchanged 5" in shown
        assert "Kept, not in the file 1 request Mine" in shown
        confirm(client, html)
        assert collection.requests.get(slug="leek").notes == "About Leek."
        assert collection.requests.count() == 5

    def test_the_same_again_has_nothing_to_do(self, client: Client) -> None:
        text = fixture.dump(example_collections.example())
        html = client.post(PAGE, {"text": text}).text
        assert "No changes: the collection is already up to date" in html
        assert 'value="yes"' not in html

    def test_it_can_stand_beside_the_one_that_is_there(self, client: Client) -> None:
        collection = example_collections.example()
        html = client.post(PAGE, {"text": fixture.dump(collection)}).text
        done = confirm(client, html, "beside")
        assert done["Location"] == "/collections/soups-2/"
        assert Collection.objects.get(slug="soups-2").requests.count() == 4
        assert collection.requests.count() == 4

    @pytest.mark.parametrize("is_wanted", [True, False])
    def test_the_variables_of_a_postman_collection_become_an_environment_on_request(
        self, client: Client, is_wanted: bool
    ) -> None:
        Environment.objects.create(name="Soups")
        rows = [
            {"key": "base", "value": "https://a.example"}, {"key": "n", "value": 3},
            {"key": "api_key", "value": "canary-4711"}, {"key": "not a name", "value": "x"},
        ]  # fmt: skip
        text = json.dumps({"info": {"name": "Soups"}, "item": [], "variable": rows})
        html = client.post(PAGE, {"text": text}).text
        assert "from its 3 variables" in html
        more = {"environment": "on"} if is_wanted else {}
        page = confirm(client, html, **more)
        assert page.status_code == 302
        created = Environment.objects.exclude(name="Soups")
        assert [each.name for each in created] == (["Soups 2"] if is_wanted else [])
        for each in created:
            found = {row.name: (row.kind, row.content, row.secret) for row in each.variables.all()}
            assert found == {
                "base": ("text", "https://a.example", ""),
                "n": ("json", 3, ""),
                "api_key": ("secret", "", ""),
            }

    def test_what_is_left_out_is_told(self, client: Client) -> None:
        item = with_fields(REQUEST, headers=[["Authorization", "Bearer confidential"]])
        text = json.dumps([COLLECTION, FOLDER, item])
        html = client.post(PAGE, {"text": text}).text
        assert "Skipped" in html
        assert "confidential" not in html
        confirm(client, html)
        assert SavedRequest.objects.get().headers == [["Authorization", ""]]

    @pytest.mark.parametrize(
        ("fields", "wanted"),
        [
            ({}, "Enter exactly one of file, text and URL."),
            ({"text": "[]", "url": "http://a.example"}, "exactly one of file, text and URL"),
            ({"text": "[{]"}, "Line 1, column 3"),
            ({"text": '[{"model": "auth.user"}]'}, "The model is “auth.user”."),
            ({"url": "ftp://a.example"}, "must start with http:// or https://"),
            ({"packed": "!"}, "is corrupted"),
            ({"packed": "eJw="}, "The file is empty."),
            ({"packed": compress_text("[1]")}, "An item must be an object"),
            ({"packed": compress_text("[1]"), "confirmed": "yes"}, "An item must be an object"),
        ],
        ids=range(9),
    )
    def test_what_cannot_be_imported(
        self, client: Client, fields: dict[str, str], wanted: str
    ) -> None:
        answer = client.post(PAGE, fields)
        assert answer.status_code == 422
        assert wanted in answer.text
        assert not Collection.objects.exists()

    def test_a_text_that_cannot_be_imported_stays_to_be_mended(self, client: Client) -> None:
        answer = client.post(PAGE, {"text": "[{<b>"})
        assert "[{&lt;b&gt;</textarea>" in answer.text

    @pytest.mark.parametrize(
        ("data", "wanted"),
        [
            (b"PK\x03\x04...", "a zip archive"),
            (b"\xff\xfe[\0]\0", "UTF-16"),
            (b"[\xc3]", "Byte 2"),
            (b" " * (32 * 1024 * 1024 + 1), "larger than 32 MB"),
        ],
        ids=["zip", "utf-16", "latin", "large"],
    )
    def test_a_file_that_is_no_text(self, client: Client, data: bytes, wanted: str) -> None:
        upload = io.BytesIO(data)
        upload.name = "a.json"
        answer = client.post(PAGE, {"file": upload})
        assert answer.status_code == 422
        assert wanted in answer.text

    def test_a_text_that_would_unpack_without_end(self, client: Client) -> None:
        answer = client.post(PAGE, {"packed": compress_text(" " * (33 * 1024 * 1024))})
        assert "larger than 32 MB" in answer.text

    def test_names_are_text_and_never_markup(self, client: Client) -> None:
        item = with_fields(REQUEST, name="<script>alert(1)</script>", notes="<img src=x>")
        html = client.post(PAGE, {"text": json.dumps([COLLECTION, FOLDER, item])}).text
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)" in html

    def test_thousands_are_counted_and_some_are_listed(self, client: Client) -> None:
        items = [with_fields(REQUEST, slug=f"r{n}", folder=None) for n in range(2_000)]
        answer = client.post(PAGE, {"text": json.dumps([COLLECTION, *items])})
        html = answer.text
        assert html.count("import-group-name") == 100
        assert "and 1901 more" in html
        confirm(client, html)
        assert SavedRequest.objects.count() == 2_000


def test_what_is_packed_comes_back() -> None:
    text = "é\n" * 1000
    assert decompress_text(compress_text(text)) == text


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ([reply(TEXT.encode())], "Import Soups ?"),
        ([reply(TEXT.encode(), "text/event-stream")], "Import Soups ?"),
        ([reply(b"no", status="404 Not Found")], "returned HTTP 404 instead of a file"),
        (
            [head("302 Found", location="http://a.example/x", content_length="0")],
            "redirects (HTTP 302) to http://a.example/x Redirects are not followed",
        ),
        ([head(content_type="text/html", content_length="3") + b"<p>"], "an XML or HTML document"),
        (
            [head(content_length="90") + b"[]"],
            "connection was lost before the response was complete",
        ),
    ],
    ids=["file", "stream", "missing", "redirect", "html", "cut"],
)
async def test_a_file_from_an_address(async_client: Any, script: Script, wanted: str) -> None:
    async with serve(*script) as server:
        answer = await async_client.post(PAGE, {"url": f"{server.url}/soups.json"})
        assert len(server.requests) == 1
    assert server.requests[0].startswith(b"GET /soups.json HTTP/1.1\r\n")
    assert wanted in text_in(answer.text)


async def test_an_address_that_the_policy_refuses(async_client: Any) -> None:
    answer = await async_client.post(PAGE, {"url": "http://169.254.169.254/latest"})
    assert answer.status_code == 422
    assert "The outbound policy denies" in answer.text


def test_an_export_is_a_file_that_imports_again(client: Client) -> None:
    collection = example_collections.example()
    answer = client.get("/collections/soups/export/")
    assert answer["Content-Disposition"] == 'attachment; filename="soups.json"'
    assert answer["Content-Type"] == "application/json; charset=utf-8"
    assert answer.text == fixture.dump(collection)
    assert client.get("/collections/other/export/").status_code == 404


def test_a_collection_is_downloaded_for_postman(client: Client) -> None:
    example_collections.example()
    answer = client.get("/collections/soups/postman/")
    assert "soups.postman_collection.json" in answer["Content-Disposition"]
    assert json.loads(answer.content)["info"]["name"] == "Soups"


CANARY = "canary-3e77a1"


class TestCurl:
    def test_the_composer_gets_what_a_command_says(self, client: Client) -> None:
        command = 'curl https://a.example/ask -d \'{"query": {"text": "eggs"}}\' -H \'X-Own: 1\''
        found = client.post("/formats/curl/", {"command": command}).json()
        assert found == {
            "address": "https://a.example/ask",
            "protocol": "nlweb",
            "binding": "http",
            "version": "0.55",
            "document": {"query": {"text": "eggs"}},
            "headers": [["X-Own", "1"]],
            "auth": {},
            "remarks": [],
            "refusals": [],
        }

    def test_a_refusal_says_why(self, client: Client) -> None:
        found = client.post("/formats/curl/", {"command": "curl x -o y"}).json()
        assert found["refusals"] == ["The option -o writes a file, which is not supported."]
        assert client.post("/formats/curl/").json()["refusals"]


@pytest.mark.usefixtures("agent")
class TestCode:
    @pytest.mark.parametrize(
        ("slug", "document", "words", "absent"),
        [
            ("recipes", None, ["curl --url http://agent.example/api/ask", "import httpx",
                               "await fetch(", "&quot;tools/call&quot;", "Mcp-Method: tools/call"],
             ""),
            ("recipes", {"query": {"text": "{{who}}"}}, ["Not defined: <code>who</code>"], ""),
            ("recipes", "{", ["Fix first"], ""),
            # The Agent API is not sent over MCP.
            ("chat", {"input": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]},
             ["import httpx"], "JSON-RPC"),
        ],
        ids=["each language", "no value", "unreadable", "Agent API"],
    )  # fmt: skip
    def test_what_is_composed(
        self, client: Client, slug: str, document: Any, words: list[str], absent: str
    ) -> None:
        chat = {"protocol": "agent-api", "version": "1"}
        Agent.objects.create(name="Chat", url="http://agent.example", **chat)
        html = client.post("/compose/code/", form(document, slug)).text
        assert [each for each in words if each not in html] == []
        assert not absent or absent not in html

    def test_secrets_are_names(self, client: Client, agent: Agent) -> None:
        agent.auth, agent.auth_secret = Agent.Auth.BEARER, CANARY
        agent.save()
        place = Environment.objects.create(name="Live")
        place.variables.create(
            name="own-key",
            kind="secret",
            secret=CANARY[::-1],
            allowed_origins=["http://agent.example"],
        )
        document = {"query": {"text": "a {{own-key}}"}}
        fields = form(document, environment=place.slug, headers='[["X-Key", "{{own-key}}"]]')
        html = client.post("/compose/code/", fields).text
        assert CANARY not in html
        assert CANARY[::-1] not in html
        assert "$TOKEN" in html
        assert "$OWN_KEY" in html
        assert "<code>TOKEN</code>" in html

    def test_the_last_call_of_a_run(self, client: Client) -> None:
        run = recorded([[POSTED, HEAD, END], [POSTED, OPEN, HEAD, result(1), END]])
        html = client.get(f"/runs/{run.pk}/code/").text
        assert "http://agent.example/ask?a=1" in html
        assert "$AUTHORIZATION" in html
        assert "••••••" not in html

    def test_a_run_that_sent_nothing(self, client: Client) -> None:
        run = recorded([[]], "refused")
        assert b"Nothing to copy" in client.get(f"/runs/{run.pk}/code/").content


class TestHar:
    def test_a_run_is_downloaded(self, client: Client, run: Run) -> None:
        answer = client.get(f"/runs/{run.pk}/run.har")
        assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}.har"'
        assert json.loads(answer.content)["log"]["version"] == "1.2"


class TestKeptReply:
    HTMX = {"HX-Request": "true"}

    @pytest.fixture
    def saved(self, run: Run) -> SavedRequest:
        collection = Collection.objects.create(name="Kept")
        return SavedRequest.objects.create(collection=collection, name="Eggs", reply=record(run))

    @staticmethod
    def opened(client: Client, saved: SavedRequest) -> tuple[str, str, bool]:
        """Return the page of a request, and what a tab gets: its run and whether it has another."""
        url = saved.get_absolute_url()
        answer = client.get(url, headers={"Accept": "application/json"}).json()
        return client.get(url).text, answer["run"], answer["offers_reply"]

    def test_it_opens_as_a_run_and_as_the_same_one(
        self, client: Client, saved: SavedRequest
    ) -> None:
        url = f"{saved.get_absolute_url()}reply/"
        # Whoever only follows the link makes nothing, and comes to where it is offered.
        assert client.get(url)["Location"] == saved.get_absolute_url()
        page, key, is_offered = self.opened(client, saved)
        assert "Show the recorded response" in page
        assert f'hx-post="{url}"' in page
        assert (key, is_offered) == ("", True)
        assert not Run.objects.filter(source="recording").exists()
        first = client.post(url)["Location"]
        assert client.post(url)["Location"] == first
        assert client.get(url)["Location"] == first
        made = Run.objects.get(source="recording")
        assert made.get_absolute_url() == first
        page, *told = self.opened(client, saved)
        assert "Show the recorded response" not in page
        assert f'data-run="{made.pk}"' in page
        assert told == [str(made.pk), False]
        assert ">recorded</span>" in client.get(first).text

    def test_the_pane_of_the_workbench_takes_it_in(
        self, client: Client, saved: SavedRequest
    ) -> None:
        url = f"{saved.get_absolute_url()}reply/"
        answer = client.post(url, headers=self.HTMX)
        made = Run.objects.get(source="recording")
        assert answer["HX-Push-Url"] == made.get_absolute_url()
        assert f'data-run="{made.pk}"' in answer.text
        SavedRequest.objects.update(reply={"frames": "none"}, recorded_run=None)
        assert self.opened(client, saved)[1] == ""
        answer = client.post(url, headers=self.HTMX)
        assert "The recorded response cannot be shown" in answer.text
        assert "hx-post" not in answer.text

    def test_without_a_reply_the_request_opens_and_says_so(self, client: Client) -> None:
        collection = Collection.objects.create(name="Kept")
        saved = SavedRequest.objects.create(collection=collection, name="Eggs")
        answer = client.post(f"/collections/{collection.slug}/requests/{saved.slug}/reply/")
        assert answer["Location"] == saved.get_absolute_url()
        assert "No response is stored" in client.get(answer["Location"]).text


@pytest.fixture
def fixture_dir(settings: Any, tmp_path: Path) -> Path:
    settings.FIXTURE_DIRS = [tmp_path]
    return tmp_path


class TestDisk:
    PATH = "/collections/soups/disk/"

    def section(self, client: Client) -> str:
        return client.get(self.PATH).text

    def post(self, client: Client, do: str, seen: str | None = None) -> Any:
        html = self.section(client)
        found = re.search(r'name="seen" value="([^"]*)"', html)
        known = found[1] if found else ""
        return client.post(self.PATH, {"do": do, "seen": known if seen is None else seen})

    def test_a_file_is_written_and_followed(self, client: Client, fixture_dir: Path) -> None:
        collection = example_collections.example()
        assert "Not saved to disk yet." in self.section(client)
        assert self.post(client, "save").status_code == 302
        path = fixture_dir / "soups.json"
        assert path.read_text("utf-8") == fixture.dump(collection)
        assert "In sync with" in self.section(client)

        path.write_text(path.read_text("utf-8").replace("About Leek.", "Of leeks."), "utf-8")
        shown = text_in(self.section(client))
        assert "The file is newer." in shown
        assert "Load the file into this collection (1 changed)" in shown
        assert "− About Leek. + Of leeks." in shown
        assert self.post(client, "load").status_code == 302
        assert collection.requests.get(slug="leek").notes == "Of leeks."
        assert "In sync with" in self.section(client)

        collection.requests.filter(slug="leek").update(name="Leeks")
        assert "Changed here" in self.section(client)
        path.write_text(path.read_text("utf-8").replace("Of leeks.", "About leeks."), "utf-8")
        assert "Conflict:" in self.section(client)
        assert self.post(client, "save").status_code == 302
        assert '"name": "Leeks"' in path.read_text("utf-8")

    def test_it_does_nothing_by_what_somebody_saw_before(
        self, client: Client, fixture_dir: Path
    ) -> None:
        example_collections.example()
        self.post(client, "save")
        path = fixture_dir / "soups.json"
        path.write_text(path.read_text("utf-8").replace("About Leek.", "Of leeks."), "utf-8")
        for do in ("save", "load"):
            answer = self.post(client, do, seen="older")
            assert answer.status_code == 422
            assert "has changed since the page was loaded" in answer.text
        assert "Of leeks." in path.read_text("utf-8")
        assert not SavedRequest.objects.filter(notes="Of leeks.").exists()

    def test_a_file_that_cannot_be_read_is_left_alone(
        self, client: Client, fixture_dir: Path
    ) -> None:
        example_collections.example()
        path = fixture_dir / "soups.json"
        path.write_text("[\n<<<<<<< HEAD\n", "utf-8")
        html = self.section(client)
        assert "is invalid and is not overwritten" in html
        assert "Line 2, column 1" in html
        for do in ("save", "load"):
            assert self.post(client, do).status_code == 422
        assert path.read_text("utf-8") == "[\n<<<<<<< HEAD\n"

    def test_htmx_is_told_to_load_the_page_again(self, client: Client, fixture_dir: Path) -> None:
        example_collections.example()
        answer = client.post(self.PATH, {"do": "save", "seen": ""}, headers={"HX-Request": "true"})
        assert answer["HX-Refresh"] == "true"

    def test_there_are_no_files_in_hosted_mode(
        self, client: Client, fixture_dir: Path, settings: Any, django_user_model: Any
    ) -> None:
        settings.HOSTED = True
        owner = django_user_model.objects.create_user("owner")
        example_collections.example(owner=owner)
        client.force_login(owner)
        assert client.get(self.PATH).content == b""
        assert client.post(self.PATH, {"do": "save", "seen": ""}).status_code == 403
        assert list(fixture_dir.iterdir()) == []

    def test_another_collection_is_not_found(self, client: Client) -> None:
        assert client.get("/collections/other/disk/").status_code == 404
