"""Fixtures that people write by hand, or that `dumpdata` writes: loaded, imported, and shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.serializers.base import DeserializationError
from django.db import IntegrityError, connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from playground.models import (
    Agent,
    Collection,
    Environment,
    Folder,
    LessonProgress,
    Run,
    SavedRequest,
    Share,
    Variable,
)
from tests.cases import FILES, page_text
from tests.support.commands import Result, run_command
from tests.support.markup import read
from tests.support.stored_runs import CALL, END, HEAD, OPEN, recorded, result

pytestmark = pytest.mark.database
DOCUMENT = {"query": {"text": "x"}}
UNKNOWN = "Unknown protocol “next”. Edit the agent."
MINI = {"model": "playground.collection", "fields": {"name": "Mini", "slug": "mini"}}


def item(model: str, **fields: Any) -> dict[str, Any]:
    return {"model": f"playground.{model}", "fields": fields}


def request(**fields: Any) -> dict[str, Any]:
    own = {"collection": ["mini"], "name": "a", "slug": "a", "document": DOCUMENT}
    return item("savedrequest", **{**own, **fields})


def load(directory: Path, *items: Any) -> None:
    path = directory / "loaded.json"
    path.write_text(json.dumps(items))
    call_command("loaddata", str(path), verbosity=0)


def imported(directory: Path, *items: Any) -> Result:
    path = directory / "imported.json"
    path.write_text(json.dumps(items))
    return run_command("import_collection", str(path))


def pages_of(row: Any) -> list[str]:
    """The addresses of a row's own pages."""
    url = row.get_absolute_url()
    match row:
        case Collection():
            names = ("outline", "details", "export", "postman")
            lesson = [f"/lessons/{row.slug}/", f"/lessons/{row.slug}/edit/"] if row.lesson else []
            return [url, f"/sidebar/{row.slug}/", *(f"{url}{name}/" for name in names), *lesson]
        case SavedRequest():
            return [url, *(f"{url}{name}/" for name in ("details", "notes", "reply"))]
        case Share():
            return [url, f"/shares/{row.token}/"]
        case Agent():
            return [url, f"{url}doctor/", f"/?agent={row.slug}"]
    return [url]


LISTS = (
    "/", "/agents/", "/collections/", "/collections/search/?q=a", "/collection-runs/",
    "/collection-runs/new/", "/environments/", "/environments/active/values/", "/history/?all=1",
    "/lessons/", "/shares/", "/sidebar/",
)  # fmt: skip


def check_pages() -> None:
    """Assert that no listing page and no row's own page fails."""
    client = Client()
    rows = [
        row
        for model in (Agent, Collection, Environment, SavedRequest, Share)
        for row in model.objects.all()
    ]
    for path in [*LISTS, *(page for row in rows for page in pages_of(row))]:
        status = client.get(path).status_code
        assert status < 500, path


class TestSlugs:
    def test_loaddata_makes_them_from_names(self, tmp_path: Path) -> None:
        call_command("loaddata", str(FILES / "fixture-no-slug.json"), verbosity=0)
        in_collection = {"collection": ["my-tests"], "name": "First one"}
        load(
            tmp_path,
            item("folder", **in_collection),
            item("savedrequest", **in_collection),
            item("savedrequest", **in_collection),
            item("agent", name="a.example:80/ask", url="http://a.example"),
            item("environment", name="new"),
            item("collection", name="Ä"),
            item("collection", name="import"),
        )
        assert [*SavedRequest.objects.values_list("slug", flat=True)] == [
            "first-one",
            "first-one-2",
        ]
        assert Folder.objects.get().slug == "first-one"
        assert Agent.objects.get().slug == "a-example-80-ask"
        assert Environment.objects.get().slug == "new-2"
        assert {*Collection.objects.values_list("slug", flat=True)} == {"my-tests", "a", "import-2"}
        check_pages()

    def test_export_and_import_of_a_row_without_a_slug(self, tmp_path: Path) -> None:
        load(tmp_path, MINI, request(slug="", name="Soup for two"))
        exported = run_command("export_collection", "mini").stdout
        assert '"slug": "soup-for-two"' in exported
        (tmp_path / "mini.json").write_text(exported)
        done = run_command("import_collection", str(tmp_path / "mini.json"))
        assert (done.returncode, done.stdout) == (0, "mini: 0 added, 0 changed, 2 unchanged.\n")

    def test_an_import_makes_them_from_names_and_again_the_same(self, tmp_path: Path) -> None:
        items = [
            item("collection", name="My tests"),
            *[request(collection=["my-tests"], slug="", name="One")] * 2,
            request(collection=["my-tests"], slug="one-2", name="Other"),
        ]
        assert imported(tmp_path, *items).stdout.endswith(
            "my-tests: 4 added, 0 changed, 0 unchanged.\n"
        )
        assert {*SavedRequest.objects.values_list("slug", "name")} == {
            ("one", "One"), ("one-2", "Other"), ("one-3", "One"),
        }  # fmt: skip
        assert "0 added, 0 changed, 4 unchanged" in imported(tmp_path, *items).stdout


#: Rows that the database refuses, whoever writes them.
REFUSED: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "slug": (Agent, {"slug": "a b"}),
    "protocol": (Agent, {"protocol": "a b"}),
    "binding": (Agent, {"binding": ""}),
    "collection": (Collection, {"slug": "../x"}),
    "reserved": (Collection, {"slug": "import"}),
    "line break": (Collection, {"slug": "a\n"}),
    "environment": (Environment, {"slug": "ü"}),
    "folder": (Folder, {"slug": ""}),
    "request": (SavedRequest, {"slug": ""}),
    "document": (SavedRequest, {"document": []}),
    "request's protocol": (SavedRequest, {"protocol": ""}),
    "share": (Share, {"token": ""}),
}


@pytest.mark.database
@pytest.mark.parametrize("name", REFUSED)
def test_the_database_refuses_a_row_that_no_page_can_show(name: str, tmp_path: Path) -> None:
    model, wrong = REFUSED[name]
    load(tmp_path, *GOOD)
    Share.objects.create(collection=Collection.objects.get())
    with pytest.raises(IntegrityError, match="_valid"):
        model.objects.update(**wrong)


GOOD = (
    MINI,
    item("folder", collection=["mini"], name="F", slug="f"),
    request(),
    item("agent", name="A", slug="a", url="http://127.0.0.1:9/x"),
    {"pk": 1, **item("environment", name="E", slug="e")},
    item("variable", environment=1, name="v", kind="secret"),
)

#: Fields of rows, values of another shape, and what loaddata says.
SHAPES: dict[str, tuple[Any, str]] = {
    "auth-array": (request(auth=["x"]), "Must be an object of strings."),
    "auth-member": (request(auth={"type": 5}), "Must be an object of strings."),
    "document-array": (request(document=[1]), "Must be an object."),
    "document-text": (request(document="{}"), "Must be an object."),
    "headers-object": (request(headers={"a": "b"}), "Must be an array of pairs of strings"),
    "headers-texts": (request(headers=["a: b"]), "Must be an array of pairs of strings"),
    "headers-single": (request(headers=[["a"]]), "Must be an array of pairs of strings"),
    "headers-number": (request(headers=[["a", 1]]), "Must be an array of pairs of strings"),
    "expectations": (request(expectations={"type": "state"}), "Must be an array of objects."),
    "expectation": (request(expectations=["state"]), "Must be an array of objects."),
    "captures": (request(captures={"a": 1}), "Must be an object of strings."),
    "reply": (request(reply=[]), "Must be an object."),
    "lesson": (item("collection", name="L", slug="l", lesson=[]), "Must be an object."),
    "agent": (item("agent", name="B", slug="b", url="x", headers="x"), "array of pairs"),
    "variable": (item("variable", environment=1, name="w", allowed_origins=[1]), "of strings"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_loaddata_refuses_a_value_of_another_shape(name: str, tmp_path: Path) -> None:
    wrong, message = SHAPES[name]
    load(tmp_path, *GOOD)
    with pytest.raises(DeserializationError, match=re.escape(message)):
        load(tmp_path, wrong)


@pytest.mark.parametrize(
    "row",
    [item("agent", name="B", slug="b", url="x", protocol="x"), request(protocol="x")],
    ids=["agent", "request"],
)
def test_loaddata_refuses_a_protocol_that_is_not_in_the_registry(
    row: dict[str, Any], tmp_path: Path
) -> None:
    load(tmp_path, *GOOD)
    with pytest.raises(ValueError, match=r"Unknown protocol 'x'\. Supported: nlweb, "):
        load(tmp_path, row)


def test_an_import_of_another_shape_is_one_line() -> None:
    done = run_command("import_collection", str(FILES / "fixture-auth-list.json"))
    assert done.returncode == 1
    assert done.stderr.endswith(
        "nothing was imported.\nItem 2, playground.savedrequest, /fields/auth: Must be an object, "
        "not an array.\n"
    )


#: Texts of JSON columns that an older version, or SQL, may have stored.
MALFORMED = ("5", '"x"', "[5]", '["x"]', '[["a", 5]]', '{"x": 5}', "null", "{", "[" * 2_000)


def store(table: str, column: str, key: Any, text: str) -> None:
    """Write a text past the fields of the model."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE playground_{table} SET {column} = %s WHERE id = %s",
            [text, key],
        )


class TestPages:
    """A row with something wrong spoils its own line, and says what is wrong there."""

    def test_values_that_loaddata_accepts(self, tmp_path: Path) -> None:
        lesson = {"steps": [{"slug": "a b", "check": 5}, {}, 7]}
        load(
            tmp_path,
            *GOOD,
            item("agent", name="No URL", url="nowhere"),
            item("agent", name="No version", url="http://a.example", version="9.9"),
            item("agent", name="No kind", url="http://a.example", auth="x", own_ids="x"),
            request(slug="b", name="Not a URL", address="nowhere"),
            request(slug="c", name="Wrong expectations", expectations=[{"type": 5}, {"type": "x"}]),
            request(slug="d", name="Of the future", version="9.9", address="{{base}}/x"),
            request(slug="e", name="Reply", reply={"frames": 5}, folder=["mini", "f"]),
            item("collection", name="Lesson", slug="lesson", lesson=lesson),
            item("variable", environment=1, name="w", kind="x", value="<b>"),
        )
        Share.objects.create(collection=Collection.objects.get(slug="mini"))
        LessonProgress.objects.create(
            collection=Collection.objects.get(slug="lesson"), is_open=True
        )
        check_pages()
        agents = page_text("/agents/")
        assert "url: Must be an HTTP or HTTPS URL. Fix" in agents
        assert "version: Must be one of legacy, 0.54, 0.55. Fix" in agents
        assert "auth: Value 'x' is not a valid choice. Fix" in agents
        assert agents.count("Fix") == 4
        requests = page_text("/collections/mini/")
        assert "address: Must be an HTTP or HTTPS URL. Fix" in requests
        assert "version: Must be one of legacy, 0.54, 0.55. Fix" in requests
        assert requests.count("Fix") == 2
        assert "kind: Value 'x' is not a valid choice. Fix" in page_text("/environments/")
        assert "lesson: “version” is missing. Fix" in " ".join(page_text("/lessons/").split())

    @pytest.mark.parametrize("text", MALFORMED)
    def test_values_that_loaddata_refuses(self, text: str, tmp_path: Path) -> None:
        load(tmp_path, *GOOD, item("collection", name="L", slug="l", lesson={"steps": []}))
        saved, variable = SavedRequest.objects.get(), Variable.objects.get()
        for column in ("headers", "auth", "expectations", "captures", "reply"):
            store("savedrequest", column, saved.pk, text)
        store("variable", "allowed_origins", variable.pk, text)
        store("collection", "lesson", Collection.objects.get(slug="l").pk, text)
        Share.objects.create(collection=Collection.objects.get(slug="mini"))
        check_pages()
        assert "headers: Must be an array of pairs of strings" in page_text("/collections/mini/")
        # Saving something else keeps what was stored.
        saved.refresh_from_db()
        saved.name = "b"
        saved.save()
        with connection.cursor() as cursor:
            cursor.execute("SELECT headers FROM playground_savedrequest")
            assert cursor.fetchone()[0] == text


class TestDumpdata:
    def test_what_it_writes_is_imported_with_or_without_natural_keys(self, tmp_path: Path) -> None:
        load(tmp_path, *GOOD, request(slug="b", folder=["mini", "f"]))
        before = run_command("export_collection", "mini").stdout
        for options in ({}, {"use_natural_foreign_keys": True, "use_natural_primary_keys": True}):
            path = tmp_path / "dumped.json"
            models = ["playground.savedrequest", "playground.folder", "playground.collection"]
            call_command("dumpdata", *models, output=str(path), **options)
            Collection.objects.all().delete()
            done = run_command("import_collection", str(path))
            assert done.returncode == 0, done.stderr
            assert (
                "! Ignored what the playground sets itself: created_at, deleted_at, file_digest"
                in done.stderr
            )
            assert run_command("export_collection", "mini").stdout == before

    @pytest.mark.parametrize("name", ["fixture-minimal", "fixture-as-dumpdata-writes"])
    def test_defaults_of_the_model(self, name: str) -> None:
        path = str(FILES / f"{name}.json")
        done = run_command("import_collection", path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith("mini: 2 added, 0 changed, 0 unchanged.\n")
        remark = "created_at, modified_at, owner, position."
        assert (remark in done.stderr) is ("dumpdata" in name)
        fields = ("protocol", "binding", "version", "document", "headers", "auth", "expectations")
        found = [getattr(SavedRequest.objects.get(), name) for name in fields]
        assert found == ["nlweb", "http", "0.55", DOCUMENT, [], {}, []]
        Collection.objects.all().delete()
        call_command("loaddata", path, verbosity=0)
        assert [getattr(SavedRequest.objects.get(), name) for name in fields] == found

    def test_an_agent_without_dates_is_loaded(self) -> None:
        path = str(FILES / "fixture-agent-no-dates.json")
        call_command("loaddata", path, verbosity=0)
        assert Agent.objects.get(slug="a1").created_at
        done = run_command("import_collection", path)
        assert done.returncode == 1
        assert "Load other models with loaddata." in done.stderr


class TestMigration:
    def test_rows_that_break_the_constraints_are_corrected(self, caplog: Any) -> None:
        executor = MigrationExecutor(connection)
        executor.migrate([("playground", "0018_queued_work")])
        try:
            models = executor.loader.project_state([("playground", "0018_queued_work")]).apps
            row = {name: models.get_model("playground", name).objects.create for name in (
                "Collection", "Folder", "SavedRequest", "Agent", "Environment", "Share",
            )}  # fmt: skip
            row["Collection"](name="My tests", slug="my-tests")
            mine = row["Collection"](name="My tests", slug="")
            row["Collection"](name="Runs", slug="runs")
            row["Folder"](collection=mine, name="Ü", slug="ü")
            saved = {"collection": mine, "name": "One", "document": "{}"}
            row["SavedRequest"](slug="one", **saved)
            row["SavedRequest"](slug="", protocol="x", binding="y", agent="a b", **saved)
            row["SavedRequest"](slug="two", **{**saved, "document": "[1]"})
            row["Agent"](name="a.example", slug="a b", url="http://a.example", protocol="")
            row["Environment"](name="<b>\n::", slug="")
            row["Share"](collection=mine, token="")
        finally:
            call_command("migrate", "playground", verbosity=0)
        assert [*Collection.objects.values_list("slug", flat=True)] == [
            "my-tests", "my-tests-2", "runs-2",
        ]  # fmt: skip
        assert Folder.objects.get().slug == "u"
        assert [*SavedRequest.objects.values_list("slug", "protocol", "binding", "agent")] == [
            ("one", "nlweb", "http", ""),
            ("one-2", "nlweb", "http", "a-example"),
            ("two", "nlweb", "http", ""),
        ]
        assert {json.dumps(each.document) for each in SavedRequest.objects.all()} == {"{}"}
        assert [*Agent.objects.values_list("slug", "protocol")] == [("a-example", "nlweb")]
        assert len(Share.objects.get().token) > 20
        assert f"slug of collection {mine.pk} changed from '' to 'my-tests-2'." in caplog.text
        assert "changed from '[1]' to '{}'." in caplog.text
        check_pages()


class TestUnknownProtocol:
    """What a later version of the playground has stored is shown by an older one."""

    @pytest.fixture(autouse=True)
    def rows(self, tmp_path: Path) -> None:
        load(tmp_path, *GOOD)
        recorded([[CALL, OPEN, HEAD], [result(0)], [END]])
        for model in (Agent, SavedRequest, Run):
            model.objects.update(protocol="next")
        Run.objects.update(agent=Agent.objects.get(slug="a"))

    @pytest.mark.parametrize(
        "path", ["/", "/?agent=a", "/agents/", "/agents/a/", "/collections/mini/", "/runs/", "run"]
    )
    def test_pages_open(self, path: str, client: Client) -> None:
        url = f"/runs/{Run.objects.get().pk}/" if path == "run" else path
        assert client.get(url).status_code == 200

    def test_a_request_is_refused(self, client: Client) -> None:
        form = {"agent": "a", "version": "1", "document": "{}"}
        found = client.post("/compose/preview/", form)
        assert UNKNOWN in found.content.decode()

    def test_an_agent_is_not_saved_without_a_protocol_that_is_known(self, client: Client) -> None:
        form = {"name": "A", "url": "http://x.example", "version": "1", "auth": "none"}
        found = client.post("/agents/a/", form)
        assert found.status_code == 422
        assert found.context["form"].errors == {"protocol": ["Choose a protocol."]}
        known = client.post("/agents/a/", {**form, "protocol": "nlweb", "version": "0.55"})
        assert known.status_code == 302
        assert Agent.objects.get(slug="a").protocol == "nlweb"

    def test_no_follow_up_is_sent(self, client: Client) -> None:
        url = f"/runs/{Run.objects.get().pk}/next/"
        assert UNKNOWN in client.get(url, follow=True).content.decode()
        found = client.post(url, {"text": "more"})
        assert found.status_code == 422
        assert UNKNOWN in found.content.decode()
        # Its agent was edited since; the conversation is still one of the unknown protocol.
        Agent.objects.update(protocol="nlweb", version="0.55")
        found = client.post(url, {"text": "more"})
        assert "Unknown protocol “next”." in found.content.decode()
        assert Run.objects.count() == 1

    def test_no_follow_up_of_a_known_protocol_goes_to_the_agent(self, client: Client) -> None:
        Run.objects.update(protocol="nlweb")
        found = client.post(f"/runs/{Run.objects.get().pk}/next/", {"text": "more"})
        assert found.status_code == 422
        assert UNKNOWN in found.content.decode()

    def test_the_composer_has_a_section_for_each_agent(self, client: Client) -> None:
        options = read(client.get("/").content.decode()).by_id("agent-select").find("option")
        found = {e.attributes["data-protocol"] for e in options if e.attributes["value"]}
        assert found == {"nlweb"}

    def test_there_is_no_second_target(self, client: Client) -> None:
        form = {"agent": "a", "version": "1", "document": "{}", "other": "version:0.54"}
        assert UNKNOWN in client.post("/twins/", form).content.decode()

    @pytest.mark.parametrize(
        "command", [("send", "a"), ("twin", "a", "a"), ("send", "a", "--conversation", "run")],
    )  # fmt: skip
    def test_commands_refuse_it(self, command: tuple[str, ...]) -> None:
        key = str(Run.objects.get().pk)
        found = run_command(*(key if each == "run" else each for each in command), "--text", "hi")
        assert (found.returncode, UNKNOWN in found.stderr) == (2, True)

    def test_a_command_refuses_to_follow_it_in_another_protocol(self) -> None:
        given = ("--conversation", str(Run.objects.get().pk), "--protocol", "nlweb")
        found = run_command("send", "a", *given, "--text", "hi")
        assert (found.returncode, "Unknown protocol “next”." in found.stderr) == (2, True)
