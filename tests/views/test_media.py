"""Pictures, sounds, files and links in responses: on the page, in a share, and saved as files."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from playground.models import Run
from tests.support.markup import Element
from tests.support.messages import data, ended, message, whole
from tests.support.pictures import OTHERS, PNG
from tests.support.run_page import entries, offered, part, shared

INVALID = "The data is not valid base64."


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def item(
    kind: str = "image", data: bytes | str = PNG, media_type: str = "image/png", **more: Any
) -> dict[str, Any]:
    """Return a content of a tool."""
    text = data if isinstance(data, str) else base64_of(data)
    return {"type": kind, "data": text, "mimeType": media_type, **more}


def link(url: str, media_type: str) -> dict[str, Any]:
    return {"type": "resource_link", "uri": url, "name": "Plan", "mimeType": media_type}


def message_run(**content: Any) -> Run:
    """Return a run with a message that has one part."""
    return ended(message("m1"), whole("m1", **content))


def shown(*items: Any) -> list[Element]:
    return entries(part(offered(*items)))


def sources(page: Element) -> list[str | None]:
    return [each.attributes["src"] for each in page.find("img")]


def told(entry: Element) -> tuple[str, ...]:
    """Return facts and reason of an entry, and the name under which it can be saved."""
    caption = entry.select(class_="media-caption")[0]
    saved = [each.words.removeprefix("Save ") for each in caption.find("button")]
    facts = " ".join(each.words for each in caption.select(class_="media-facts"))
    reason = " ".join(each.words for each in caption.select(class_="media-reason"))
    return facts, reason, " ".join(saved)


class TestPictures:
    SHOWN = f"data:image/png;base64,{base64_of(PNG)}"

    def test_small_ones_are_shown_and_can_be_saved(self) -> None:
        run = offered(item())
        page = part(run)
        assert sources(page) == [self.SHOWN]
        assert told(entries(page)[0]) == ("image/png, 70 B", "", "image.png")
        (form,) = entries(page)[0].find("form")
        assert form.attributes["action"] == f"/runs/{run.pk}/contents/4/0/"
        # Readers of a share see it, too, and save nothing of its owner.
        page = shared(run)
        assert (sources(page), page.find("form")) == ([self.SHOWN], [])

    @pytest.mark.parametrize("status", ["in_progress", "completed"])
    def test_of_a_message(self, status: str) -> None:
        url = f"data:image/png;base64,{base64_of(PNG)}"
        page = part(message_run(type="image", image_url=url, status=status))
        assert sources(page) == [self.SHOWN]

    def test_other_files_are_none_whatever_they_are_called(self) -> None:
        found = shown(
            item(media_type="image/svg+xml"), *(item(data=each) for each in OTHERS.values())
        )
        assert [len(sources(entry)) for entry in found] == [1, *[0] * len(OTHERS)]
        reasons = [told(entry)[1] for entry in found[1:]]
        assert all(
            reason or not data for reason, data in zip(reasons, OTHERS.values(), strict=True)
        )

    def test_svg_with_a_script(self) -> None:
        svg = OTHERS["svg"]
        url = f"data:image/svg+xml;base64,{base64_of(svg)}"
        for run in (
            offered(item(data=svg, media_type="image/svg+xml")),
            message_run(type="image", image_url=url),
        ):
            page = part(run)
            assert page.find("img") == page.find("script") == []
            assert "SVG can contain scripts" in page.words

    def test_one_that_is_too_large_is_named(self) -> None:
        (entry,) = shown(item(data=PNG + bytes(2**20)))
        assert sources(entry) == []
        assert told(entry) == ("image/png, 1.0 MB", "Pictures of up to 1.0 MB are shown.",
                               "image.png")  # fmt: skip

    @pytest.mark.parametrize(
        ("media_type", "url", "is_picture"),
        [
            ("image/png", "https://a.example/b.png", True),
            ("image/svg+xml", "https://a.example/b.svg", False),
            ("image/png", "file:///b.png", False),
            ("text/html", "https://a.example/b", False),
        ],
    )
    def test_one_that_is_elsewhere_is_loaded_on_a_click(
        self, media_type: str, url: str, is_picture: bool
    ) -> None:
        schema = {"@type": "MediaObject", "contentUrl": url, "encodingFormat": media_type}
        linked, described = shown(link(url, media_type), schema)
        for entry in (linked, described):
            assert len(entry.find("agent-picture")) == is_picture
            assert entry.find("img") == []
        links = [each.attributes["href"] for each in linked.find("a")]
        assert links == ([url] if url.startswith("https") else [])


class TestOtherMedia:
    def test_damaged_data_can_not_be_saved(self) -> None:
        kinds = ("image", "audio")
        found = shown(*(item(kind, "%%%") for kind in kinds),
                      item(data=base64_of(PNG + bytes(98)) + "!!!!"))  # fmt: skip
        assert [told(entry)[1:] for entry in found] == [(INVALID, "")] * 3

    @pytest.mark.parametrize(
        ("kind", "media_type", "name"),
        [
            ("audio", "audio/wav", "audio.wav"), ("audio", "audio/mpeg", "audio.mp3"),
            ("image", "image/png", "image.png"), ("audio", "x/y", "audio"),
        ],
    )  # fmt: skip
    def test_the_name_of_a_file_has_the_extension_of_its_type(
        self, kind: str, media_type: str, name: str
    ) -> None:
        (entry,) = shown(item(kind, PNG if kind == "image" else b"abc", media_type))
        assert told(entry)[2] == name

    @pytest.mark.parametrize(
        ("name", "saved"),
        [("a.png", "a.png"), ("../../etc/passwd", ".._.._etc_passwd"), ("..", "file")],
    )
    def test_the_name_of_a_file_is_no_path(self, name: str, saved: str) -> None:
        page = part(message_run(type="file", filename=name, file_data=base64_of(b"a,b")))
        (button,) = page.select(class_="media-caption")[0].find("button")
        assert button.words == f"Save {saved}"

    @pytest.mark.parametrize(
        "where", [{"file_data": base64_of(b"a,b")}, {"file_url": "https://a.example/b"}]
    )
    def test_a_file_of_a_message_has_its_name(self, where: dict[str, str]) -> None:
        page = part(message_run(type="file", filename="shopping list.csv", **where))
        assert "shopping list.csv" in page.words

    def test_a_text(self) -> None:
        text = {"uri": "demo://notes", "text": "<b>Soup</b>", "mimeType": "text/plain"}
        (entry,) = shown({"type": "resource", "resource": text})
        assert entry.find("pre")[0].text == "<b>Soup</b>"
        assert "demo://notes" in entry.words
        assert entry.find("a") == []


class TestSaving:
    @pytest.mark.parametrize(
        ("data", "served_as"), [(PNG, "image/png"), (OTHERS["svg"], "application/octet-stream")]
    )
    def test_a_content_of_a_tool(self, client: Client, data: bytes, served_as: str) -> None:
        run = offered(item(data=data, media_type="image/svg+xml"))
        response = client.get(f"/runs/{run.pk}/contents/4/0/")
        assert (response.status_code, response.content) == (200, data)
        assert response["Content-Type"] == served_as
        assert response["Content-Disposition"].startswith("attachment")
        assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert response["X-Content-Type-Options"] == "nosniff"

    def test_a_content_of_a_message(self, client: Client) -> None:
        url = f"data:image/png;base64,{base64_of(PNG)}"
        run = message_run(type="image", image_url=url, status="in_progress")
        statuses = {"4/0/0": 200, "4/0/7": 404, "5/0/0": 404}
        for path, status in statuses.items():
            response = client.get(f"/runs/{run.pk}/contents/{path}/")
            assert response.status_code == status
            assert status != 200 or response.content == PNG

    def test_what_is_none(self, client: Client) -> None:
        damaged = offered(item(data="!!!"))
        for path in ("4/0", "3/0", "4/7", "99/0"):
            assert client.get(f"/runs/{damaged.pk}/contents/{path}/").status_code == 404

    def test_of_another_user(self, client: Client) -> None:
        run = offered(item(), owner=User.objects.create_user("stranger"))
        client.force_login(User.objects.create_user("somebody"))
        assert client.get(f"/runs/{run.pk}/contents/4/0/").status_code == 404


URL = "https://pictures.example:8443/soup.jpg?size=1&x=%22"


def in_card(image: Any) -> Run:
    return offered({"@type": "Recipe", "name": "Soup", "image": image})


def in_message(image: Any) -> Run:
    return message_run(type="image", image_url=image)


def in_part(image: Any) -> Run:
    return ended(message("m1"), data("m1", {"@type": "Recipe", "image": image}))


@pytest.mark.parametrize("run_of", [in_card, in_message, in_part])
class TestPicturesThatAgentsName:
    """Nothing that a browser would load by itself."""

    @staticmethod
    def buttons(page: Element) -> list[Element]:
        return page.select("button", name="url")

    @staticmethod
    def links(page: Element, url: Any) -> list[Element]:
        return page.select("a", href=url) if isinstance(url, str) else []

    def test_a_button_loads_it(self, run_of: Any) -> None:
        run = run_of(URL)
        page = part(run)
        (picture,) = page.find("agent-picture")
        assert picture.find("form")[0].attributes["action"] == f"/runs/{run.pk}/picture/"
        (button,) = self.buttons(picture)
        assert str(button.attributes["value"]).startswith(URL)
        assert button.attributes["value"] != URL
        assert "picture" in button.words
        assert "pictures.example:8443" in button.words
        assert not self.links(page, URL)
        assert not page.find("img")

    def test_it_may_be_in_a_list_or_an_object(self, run_of: Any) -> None:
        for value in ([URL, URL], {"url": URL}):
            if run_of is not in_message:
                assert len(self.buttons(part(run_of(value)))) == 1

    @pytest.mark.parametrize("is_shared", [False, True])
    def test_it_is_only_a_link_where_it_may_not_be_loaded(
        self, run_of: Any, is_shared: bool, settings: Any
    ) -> None:
        """Readers of a share get no signature."""
        settings.AGENT_IMAGES = is_shared
        page = (shared if is_shared else part)(run_of(URL))
        assert not self.buttons(page)
        assert not page.find("agent-picture")
        (link,) = self.links(page, URL)
        assert "noreferrer" in str(link.attributes["rel"])

    @pytest.mark.parametrize(
        "url",
        ["javascript:alert(1)", "data:image/svg+xml,<svg/>", "/local.png", "http://u:p@a.example/",
         7, None],
    )  # fmt: skip
    def test_another_value_is_neither(self, run_of: Any, url: Any) -> None:
        page = part(run_of(url))
        assert not self.buttons(page)
        assert not self.links(page, url)
