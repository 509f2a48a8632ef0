"""Section 4.1.3: questions, and how answers are read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.demo import elicitation
from playground.demo.failures import FailureError
from playground.demo.query_parser import complete_from_context
from playground.demo.requests import MAX_TEXT
from playground.demo.requests import AskRequest as AskRecord
from tests.demo.client import Reply
from tests.demo.conftest import Ask, check

TYPES = {"single_select", "multi_select", "free_text", "number", "boolean"}


def ids(reply: Reply) -> list[str]:
    return [question["id"] for question in reply.document["elicitation"]["questions"]]


@pytest.mark.parametrize("version", ["0.54", "0.55"])
@pytest.mark.parametrize(
    "text", ["I need something for dinner", "What should I eat tonight?", "dinner ideas", "lunch?"]
)
async def test_a_vague_wish_for_a_meal(ask: Ask, version: str, text: str) -> None:
    reply = await ask(text, version=version)
    assert reply.status == 200
    assert reply.meta["response_type"] == "elicitation"
    check(version, "elicitation", reply.document)
    assert ids(reply) == ["dietary_restrictions", "protein_type", "cooking_time"]
    assert reply.meta["session_context"]["conversation_id"]


async def test_pasta(ask: Ask) -> None:
    reply = await ask("pasta recipe")
    check("0.55", "elicitation", reply.document)
    assert ids(reply) == ["sauce_type", "dietary_restrictions", "cooking_time"]


async def test_pasta_in_054_is_asked_in_words(ask: Ask) -> None:
    """Its examples, section 3."""
    reply = await ask("pasta recipe", version="0.54")
    check("0.54", "elicitation", reply.document)
    assert list(reply.document["elicitation"]) == ["text"]


async def test_every_type_of_question(ask: Ask) -> None:
    reply = await ask("help me plan a dinner party")
    check("0.55", "elicitation", reply.document)
    questions = reply.document["elicitation"]["questions"]
    assert {question["type"] for question in questions} == TYPES
    for question in questions:
        assert ("options" in question) == question["type"].endswith("select")


async def test_questions_are_not_streamed(ask: Ask) -> None:
    reply = await ask("pasta recipe", streaming=True)
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.meta["response_type"] == "elicitation"


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("pasta recipe", {"filters": {"sauce_type": "tomato"}}),
        ("pasta recipe", {"filters": {"dietary_restrictions": ["none"]}}),
        ("pasta recipe", {"filters": {"cooking_time": "20-40 minutes"}}),
        ("pasta recipe", {"filters": {"cuisine": "Italian"}}),
        ("pasta recipe", {"context": {"@type": "Answers", "sauce_type": "pesto"}}),
        ("pasta recipe. Sauce: pesto. Diet: vegan.", {}),
        ("vegan pasta", {}),
        ("pasta in under 20 minutes", {}),
        ("pasta with broccoli", {}),
        ("dinner with salmon", {}),
        ("dinner restaurants", {}),
        ("soup", {}),
    ],
)
async def test_enough_is_enough(ask: Ask, text: str, more: dict[str, Any]) -> None:
    reply = await ask(text, more.get("filters"), context=more.get("context"))
    assert reply.meta["response_type"] == "answer"
    assert reply.names


async def test_answers_are_honoured(ask: Ask) -> None:
    reply = await ask(
        "I need something for dinner",
        {
            "dietary_restrictions": ["vegan"],
            "protein_type": "tofu",
            "cooking_time": "20-40 minutes",
        },
    )
    assert reply.names
    for item in reply.document["results"]:
        assert any("tofu" in text for text in item["recipeIngredient"])
        assert "https://schema.org/VeganDiet" in item["suitableForDiet"]


class TestDinnerParty:
    async def test_no_dish_comes_twice(self, ask: Ask) -> None:
        """The best vegan starter is the best vegan main course, too."""
        filters = {"guests": 6, "dietary_restrictions": "vegan", "cooking_time": "20-40 minutes"}
        reply = await ask("plan a dinner party", filters)
        names = [item["name"] for item in reply.document["results"] if "name" in item]
        assert len(names) == len(set(names)) == 3

    async def test_a_menu(self, ask: Ask) -> None:
        reply = await ask(
            "plan a dinner party",
            {
                "guests": 8,
                "courses": ["starter", "side", "dessert"],
                "with_children": True,
                "wishes": "tiramisu, please",
                "dietary_restrictions": ["vegetarian"],
                "cooking_time": "40-60 minutes",
            },
        )
        summary, *courses = reply.document["results"]
        assert "8 guests" in summary["text"]
        assert "children" in summary["text"]
        categories = [{c.lower() for c in course["recipeCategory"]} for course in courses]
        assert categories[0] & {"starter", "soup"}
        assert categories[1] & {"side", "salad"}
        assert courses[2]["name"] == "Tiramisu"
        assert all("https://schema.org/VegetarianDiet" in c["suitableForDiet"] for c in courses)

    async def test_answers_may_be_few_or_in_the_context(self, ask: Ask) -> None:
        reply = await ask("a dinner party", context={"@type": "Answers", "guests": 4})
        assert len(reply.document["results"]) == 4
        assert "4 guests" in reply.document["results"][0]["text"]

    @pytest.mark.parametrize("guests", [0, -1, "many", True])
    async def test_impossible_guests(self, ask: Ask, guests: object) -> None:
        assert (await ask("dinner party", {"guests": guests})).code == "INVALID_QUERY"

    async def test_a_diet_without_a_dish(self, ask: Ask) -> None:
        answers = {
            "dietary_restrictions": ["vegan", "gluten-free"],
            "courses": "starter, main, side, dessert",
            "cooking_time": "under 20 minutes",
        }
        assert (await ask("dinner party", answers)).code == "NO_RESULTS"


class TestAnswersHoweverTheyCome:
    """NLWeb does not say how answers come back."""

    @pytest.mark.parametrize(
        ("text", "filters", "context"),
        [
            ("", {"guests": 8, "courses": ["main"]}, {}),
            ("", {"guests": "8", "courses": "main"}, {}),
            ("", {"guests": 8.0, "courses": " MAIN "}, {}),
            ("", {}, {"@type": "Answers", "guests": 8, "courses": "main"}),
            ("", {}, {"@type": "X", "answers": {"guests": 8, "courses": ["main"]}}),
            ("", {}, {"answers": [{"id": "guests", "answer": 8}, {"id": "courses", "value": "main"},
                                  {"id": 7}, {"id": "guests"}, 5]}),
            (" How many guests do you expect? 8. Which courses would you like? main.", {}, {}),
            (". how many guests do you expect? 8\nWhich courses would you like? main", {}, {}),
            ("\nguests: 8\ncourses: main", {}, {}),
            ("; guests = 8; courses = main;", {}, {}),
            (" guests: 3. courses: side.", {"guests": 8}, {"courses": "main"}),
        ],
    )  # fmt: skip
    async def test_are_understood(
        self, ask: Ask, text: str, filters: dict[str, Any], context: dict[str, Any]
    ) -> None:
        reply = await ask(f"plan a dinner party{text}", filters, context=context)
        summary, *courses = reply.document["results"]
        assert summary["text"].startswith("A menu for 8 guests: ")
        assert len(courses) == 1
        assert "ignored_filters" not in reply.meta

    async def test_lists_and_booleans_in_sentences(self, ask: Ask) -> None:
        reply = await ask(
            "plan a dinner party. Which courses would you like? starter, dessert."
            " Will there be children at the table? yes."
            " Do you have any dietary restrictions? vegetarian and gluten-free."
        )
        summary, *courses = reply.document["results"]
        assert "children" in summary["text"]
        assert len(courses) == 2
        assert all("https://schema.org/GlutenFreeDiet" in c["suitableForDiet"] for c in courses)

    @pytest.mark.parametrize(
        "more",
        [
            {"filters": {"answer": "tomato please, vegan"}},
            {"context": {"answer": "tomato please, vegan"}},
            {"text": " tomato please, vegan."},
        ],
    )
    async def test_questions_in_words_are_answered_in_words(
        self, ask: Ask, more: dict[str, Any]
    ) -> None:
        asked = await ask("pasta recipe", version="0.54")
        text = asked.document["elicitation"]["text"] + more["text"] if "text" in more else ""
        reply = await ask(
            f"pasta recipe. {text}",
            more.get("filters"),
            context=more.get("context"),
            version="0.54",
        )
        diets = [i["suitableForDiet"] for i in reply.document["results"] if "cookTime" in i]
        assert diets
        assert all("https://schema.org/VeganDiet" in suits for suits in diets)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("courses", ["main", "soup of the day"]), ("courses", []), ("courses", [1]),
            ("courses", {}), ("dietary_restrictions", "fruitarian"), ("guests", "eight"),
            ("guests", [8]), ("guests", 10**9), ("with_children", "perhaps"),
            ("with_children", 2), ("wishes", {"a": 1}), ("wishes", [1]),
            ("cooking_time", "an age"), ("cooking_time", ["under 20 minutes", "over an hour"]),
        ],
    )  # fmt: skip
    async def test_what_does_not_fit_is_refused(self, ask: Ask, name: str, value: object) -> None:
        reply = await ask("dinner party", {name: value})
        assert (reply.status, reply.code) == (400, "INVALID_QUERY")
        details = reply.document["error"]["details"]
        assert (details["parameter"], details["provided_value"]) == (name, value)
        assert details["expected_format"]

    async def test_what_fits_no_option_is_refused_in_a_search_too(self, ask: Ask) -> None:
        reply = await ask("pasta recipe", {"sauce_type": "ketchup"})
        assert "tomato" in reply.document["error"]["details"]["expected_format"]

    async def test_a_text_that_is_all_answers_is_a_query(self, ask: Ask) -> None:
        assert (await ask("guests: 8")).names


class TestMenu:
    """Two rounds of questions: the second depends on the answer to the first."""

    @pytest.mark.parametrize(
        ("occasion", "second"),
        [
            ("weeknight supper", ["cooking_time", "dietary_restrictions"]),
            (
                "dinner party",
                [
                    "guests",
                    "courses",
                    "with_children",
                    "wishes",
                    "dietary_restrictions",
                    "cooking_time",
                ],
            ),
        ],
    )
    @pytest.mark.parametrize("keeping", ["query", "session"])
    async def test_two_rounds(
        self, post: Ask, occasion: str, second: list[str], keeping: str
    ) -> None:
        request: dict[str, Any] = {"query": {"text": "plan a menu"}}
        first = await post("ask", request)
        check("0.55", "elicitation", first.document)
        assert ids(first) == ["occasion"]
        request = {
            "query": {"text": "plan a menu", "occasion": occasion},
            "meta": {"session_context": first.meta["session_context"]},
        }
        reply = await post("ask", request)
        check("0.55", "elicitation", reply.document)
        assert ids(reply) == second
        question = reply.document["elicitation"]["questions"][0]
        # The first answer comes back in the query, or in the session, or in both.
        if keeping == "query":
            request["meta"] = {}
        else:
            del request["query"]["occasion"]
            request["meta"] = {"session_context": reply.meta["session_context"]}
        request["query"][question["id"]] = question["default"]
        answer = await post("ask", request)
        check("0.55", "answer", answer.document)
        summary, *courses = answer.document["results"]
        assert summary["text"].startswith("A menu for ")
        assert courses
        assert "pending" not in answer.meta["session_context"]

    async def test_answers_decide(self, ask: Ask) -> None:
        async def menu(**answers: Any) -> list[str]:
            reply = await ask("plan a menu", answers)
            return [item.get("name", item.get("text")) for item in reply.document["results"]]

        supper = await menu(occasion="weeknight supper", cooking_time="20-40 minutes")
        assert supper[0].startswith("A menu for 2 guests: ")
        assert len(supper) == 3
        party = await menu(occasion="dinner party", guests="3")
        assert party[0].startswith("A menu for 3 guests: ")
        assert len(party) == 4

    async def test_an_impossible_occasion(self, ask: Ask) -> None:
        assert (await ask("a menu", {"occasion": "coronation"})).code == "INVALID_QUERY"

    async def test_another_topic_ends_it(self, post: Ask) -> None:
        session = {"pending": {"occasion": "dinner party"}}
        request = {"query": {"text": "soup"}, "meta": {"session_context": session}}
        reply = await post("ask", request)
        assert "pending" not in reply.meta["session_context"]

    @pytest.mark.parametrize("pending", [7, [], {"occasion": "dinner party"}])
    async def test_an_odd_memory(self, post: Ask, pending: object) -> None:
        meta = {"session_context": {"pending": pending}}
        reply = await post("ask", {"query": {"text": "a menu"}, "meta": meta})
        assert reply.meta["response_type"] == "elicitation"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(sorted(elicitation.IDS)) | st.text(max_size=5), inner)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(
    st.sampled_from([*sorted(elicitation.IDS), "prev", "answers"]) | st.text(max_size=5), JSON
)
SAID = st.lists(
    st.sampled_from([*elicitation.labels(), "guests: ", "cake=", "menu", "pasta", "dinner party"])
    | st.text(max_size=10)
).map(" ".join)


# How long it takes is not what is tested here.
@given(SAID, OBJECTS, OBJECTS, OBJECTS, st.sampled_from(["0.54", "0.55"]))
def test_whatever_comes_is_examined(
    text: str,
    filters: dict[str, Any],
    context: dict[str, Any],
    pending: dict[str, Any],
    version: str,
) -> None:
    """Answers are checked or refused: nothing that can be sent is a bug."""
    ask = AskRecord(version, text, filters, context, {}, pending=pending)
    gathered = complete_from_context(elicitation.gather_answers(ask))
    assert not set(gathered.filters) & elicitation.IDS
    assert set(gathered.answers) <= elicitation.IDS
    assert len(gathered.text) <= max(MAX_TEXT, len(text))
    refused: list[FailureError] = []
    try:
        elicitation.questions_or_request(gathered)
    except FailureError as failure:
        refused.append(failure)
    for failure in refused:
        assert failure.code == "INVALID_PARAMETER"
        assert failure.details
        assert failure.details["parameter"] in elicitation.IDS


class TestQuestionsOf054:
    """The examples of 0.54 have selections only; what else is asked is asked in the text."""

    @pytest.mark.parametrize(
        ("text", "filters"),
        [
            ("I need something for dinner", {}),
            ("plan a dinner party", {}),
            ("surprise me, but ask first", {}),
            ("plan a menu", {}),
            *(("plan a menu", {"occasion": name}) for name in ("weeknight supper", "dinner party")),
        ],
    )
    async def test_are_selections(self, ask: Ask, text: str, filters: dict[str, Any]) -> None:
        newer, older = [
            (await ask(text, filters, version=version)).document["elicitation"]
            for version in ("0.55", "0.54")
        ]
        asked = {question["id"] for question in older["questions"]}
        for question in older["questions"]:
            assert set(question) == {"id", "text", "type", "options"}
            assert question["type"] in ("single_select", "multi_select")
        for question in newer["questions"]:
            assert question["id"] in asked or question["text"] in older["text"]

    async def test_answers_to_them(self, ask: Ask) -> None:
        answers = {"with_children": "no", "courses": ["main"], "guests": "3", "wishes": "risotto"}
        reply = await ask("plan a dinner party", answers, version="0.54")
        assert reply.document["results"][0]["text"].startswith("A menu for 3 guests: ")

    async def test_answers_in_the_text(self, ask: Ask) -> None:
        text = "plan a dinner party. How many guests do you expect? 11."
        reply = await ask(text, version="0.54")
        assert "11 guests" in reply.document["results"][0]["text"]
