"""Section 3.3, `accept-language`: negotiation, translations, and what a reply says about it."""

from __future__ import annotations

import re
import string
from typing import Any

import pytest

from playground.demo.elicitation import ELICITATIONS
from playground.demo.failures import CODES
from playground.demo.languages import ENGLISH, TRANSLATIONS, Language, negotiate, say
from playground.demo.promises import STAGES
from tests.demo.conftest import Ask, Clock, check

GERMAN = TRANSLATIONS["de"]
GERMAN_ASKED = Language("de", is_requested=True)


class TestNegotiation:
    @pytest.mark.parametrize(
        ("accepted", "code"),
        [
            ("en", "en"), ("de", "de"), ("DE", "de"), ("de-AT", "de"), ("en-GB", "en"),
            ("de, en", "en"), ("de, en;q=0.9", "de"), ("de;q=0.5, en;q=0.8", "en"),
            ("fr, de;q=0.1", "de"), ("de-CH-1996;q=0.7, *;q=0.5", "de"), ("*", "en"),
            ("*, en;q=0", "de"), ("fr, *;q=0.1", "en"), (" de ;q=1.000 , , fr", "de"),
            ("en;q=0.001,\tde ; q=0.01", "de"), ("*;q=0.5, de;q=0.5", "de"),
        ],
    )  # fmt: skip
    def test_the_best_is_chosen(self, accepted: str, code: str) -> None:
        assert negotiate(accepted) == Language(code, is_requested=True)

    @pytest.mark.parametrize("accepted", ["fr", "en;q=0", "de;q=0.0, en;q=0.000", "fr, *;q=0"])
    def test_neither_is_accepted(self, accepted: str) -> None:
        assert negotiate(accepted) == Language("en", is_requested=True, is_accepted=False)

    @pytest.mark.parametrize(
        "accepted",
        [
            "", " ", ",", "german please", "de_DE", "toolongtag", "de-", "-de", "1de", "de;q=2",
            "de;q=1.001", "de;q=0.1234", "de;q=-1", "de;q=", "de;q", "de;level=1", "de;q=0,5",
            "*-DE", "dé", "de;q=0.5;q=0.5", "**",
        ],
    )  # fmt: skip
    def test_other_grammar(self, accepted: str) -> None:
        assert negotiate(accepted) is None


class TestTranslations:
    @pytest.mark.parametrize("text", GERMAN)
    def test_have_the_same_values(self, text: str) -> None:
        fields = [{name for _, name, _, _ in string.Formatter().parse(each) if name}
                  for each in (text, GERMAN[text])]  # fmt: skip
        assert fields[0] == fields[1]

    def test_of_every_question(self) -> None:
        for elicitation in ELICITATIONS.values():
            questions = elicitation.get("questions", [])
            texts = [elicitation["text"], *(question["text"] for question in questions)]
            assert set(texts) <= set(GERMAN)

    def test_of_every_failure_and_stage(self) -> None:
        stages = {text for rows in STAGES.values() for _, text in rows}
        assert {row.message for row in CODES.values()} | stages <= set(GERMAN)

    def test_other_texts_stay(self) -> None:
        assert say(GERMAN_ASKED, "pesto {x}") == "pesto {x}"
        assert say(ENGLISH, "One result matches “{query}”: {names}.", query="{q}", names="n") == (
            "One result matches “{q}”: n."
        )


#: Requests with a text of each reply in German.
ASKED: list[tuple[str, dict[str, Any], str]] = [
    ("soup", {"mode": "summarize"}, "Ergebnisse zu „soup“: "),
    ("soup", {"response_format": "chatgpt_app"}, "Ergebnisse zu „soup“:"),
    ("soup", {"response_format": "chatgpt_app"}, "Fertig in: "),
    ("my cart", {}, "Der Einkaufswagen der Demo"),
    ("recipes from planet Mars", {}, "Keine Ergebnisse zu „recipes from planet Mars“."),
    ("soup that fails", {}, "Die Zeit war um"),
    ("soup that fails", {"streaming": True}, "Die Zeit war um"),
    ("I need something for dinner", {}, "Welche Proteinquelle"),
    ("plan a dinner party", {}, "Vorspeise"),
    ("pasta recipe", {}, "Welche Soße"),
    ("meal plan", {}, "Schreibe die Einkaufsliste…"),
]


@pytest.mark.django_db(transaction=True)
class TestReplies:
    @pytest.mark.parametrize("version", ["0.54", "0.55"])
    @pytest.mark.parametrize(("text", "prefer", "said"), ASKED)
    async def test_are_in_german(
        self, ask: Ask, clock: Clock, text: str, prefer: dict[str, Any], said: str, version: str
    ) -> None:
        reply = await ask(text, version=version, **prefer, **{"accept-language": "de-AT, en;q=0.3"})
        assert said in reply.body.decode()
        metas = [data["_meta"] for _, data in reply.events if "_meta" in data] or [reply.meta]
        assert metas[-1]["content_language"] == "de"
        assert "auf Englisch" in metas[-1]["language_note"]

    async def test_are_in_english_by_default(self, ask: Ask) -> None:
        reply = await ask("soup", mode="summarize")
        assert "match “soup”" in reply.document["results"][0]["text"]
        assert not {"content_language", "language_note"} & set(reply.meta)

    async def test_say_the_limit(self, ask: Ask) -> None:
        meta = (await ask("soup", **{"accept-language": "fr"})).meta
        assert meta["content_language"] == "en"
        assert meta["language_note"] == "This agent writes English and German only."
        meta = (await ask("soup", **{"accept-language": "en-US"})).meta
        assert meta["content_language"] == "en"
        assert "language_note" not in meta

    async def test_a_promise_keeps_the_language(self, post: Ask, clock: Clock) -> None:
        asked = {"query": {"text": "meal plan"}, "prefer": {"accept-language": "de"}}
        token = (await post("ask", asked)).document["promise"]["token"]
        request = {"promise_token": token, "action": "checkin"}
        clock.now += 7
        assert (await post("await", request)).document["promise"]["message"] == (
            "Gleiche die Woche aus…"
        )
        clock.now += 7
        reply = await post("await", request)
        assert reply.meta["content_language"] == "de"
        assert re.match(r"Ihr Essensplan für die Woche ab \d\d\.\d\d\.", reply.names[0])

    async def test_a_cancellation(self, post: Ask, clock: Clock) -> None:
        asked = {"query": {"text": "meal plan"}, "prefer": {"accept-language": "de"}}
        token = (await post("ask", asked)).document["promise"]["token"]
        reply = await post("await", {"promise_token": token, "action": "cancel"})
        assert reply.document["error"]["message"] == "Die Aufgabe wurde abgebrochen."


@pytest.mark.parametrize(
    "answers",
    [
        {"courses": ["Vorspeise", "Nachtisch"], "guests": 4, "with_children": "ja"},
        {"courses": "Vorspeise und Nachtisch", "guests": "4", "with_children": "yes"},
    ],
)
async def test_answers_may_be_in_german(ask: Ask, answers: dict[str, Any]) -> None:
    reply = await ask("plan a dinner party", answers, **{"accept-language": "de"})
    summary, *courses = reply.document["results"]
    assert summary["text"].startswith("Ein Menü für 4 Gäste: ")
    assert summary["text"].endswith(" Es ist mild genug für Kinder.")
    assert len(courses) == 2


async def test_answers_after_german_questions_in_the_text(ask: Ask) -> None:
    text = "plan a dinner party. Wie viele Gäste werden erwartet? 9. Sind Kinder dabei? nein"
    summary = (await ask(text, **{"accept-language": "de"})).document["results"][0]["text"]
    assert summary.startswith("Ein Menü für 9 Gäste: ")
    assert "Kinder" not in summary


@pytest.mark.parametrize("occasion", ["weeknight supper", "Essen unter der Woche"])
async def test_a_menu_in_german(ask: Ask, occasion: str) -> None:
    german = {"accept-language": "de"}
    reply = await ask("plan a menu", {"occasion": occasion}, **german)
    check("0.55", "elicitation", reply.document)
    question = reply.document["elicitation"]["questions"][0]
    assert (question["options"][0], question["default"]) == ("unter 20 Minuten", "20-40 Minuten")
    answers = {"occasion": occasion, "cooking_time": "20-40 Minuten"}
    reply = await ask("plan a menu", answers, **german)
    assert reply.document["results"][0]["text"].startswith("Ein Menü für 2 Gäste: ")
