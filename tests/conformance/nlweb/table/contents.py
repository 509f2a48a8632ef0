"""Cases of sections 4.1 to 5: answers, promises, elicitations, failures, actions."""

from __future__ import annotations

from playground.conformance import TaskEnd
from tests.conformance.case import Case, at, case
from tests.conformance.scripts import (
    ACTION,
    COMPLETE,
    ITEM,
    START,
    SUMMARY,
    acting,
    answer,
    app,
    asking,
    document,
    elicitation,
    failure,
    meta,
    promise,
    question,
    result,
    stream,
    without,
)

V54, V55 = ("0.54",), ("0.55",)
ACTIONS = "/results/0/actions"
QUESTIONS = "/elicitation/questions"
MCP = {**without(ACTION, "method", "endpoint"), "protocol": "MCP", "server": "s", "tool": "t"}
A2A = {
    **without(ACTION, "method", "endpoint"),
    "protocol": "A2A",
    "agent_url": "https://example.com/agent",
    "skill": "s",
}
NESTED = {"@type": "Menu", "courses": [{"dish": {"@type": "Recipe", "actions": [{}]}}]}

ANSWERS = (
    case(
        "answer-content",
        document(app()),
        (document({**meta(), "results": {"a": 1}}), at("/results")),
        (document({**meta(), "results": None}), at("/results")),
        (document(without(app(), "content")), at("/content")),
        (
            document(without(app(**meta(response_format="chatgpt_app")), "structuredData")),
            at("/structuredData"),
        ),
        (
            document(without(app(), "structuredData")).asked(
                prefer={"response_format": "chatgpt_app"}
            ),
            at("/structuredData"),
        ),
        (document(app(content="Eggs.")), at("/content")),
    ),
    case(
        "answer-structured",
        document(app()),
        (document(without(app(), "structuredData")), at("/structuredData")),
    ),
    case(
        "content-parts",
        document(app()),
        (document(app(content=["Eggs."])), at("/content/0")),
        (document(app(content=[{"type": "html", "text": "a"}])), at("/content/0/type")),
        (document(app(content=[{"type": "text", "text": None}])), at("/content/0/text")),
        (
            document(app(content=[{"Type": "html", "Text": "a"}])),
            at("/content/0/type", "/content/0/text"),
        ),
    ),
    case(
        "content-parts",
        document(app(content=[{"Type": "text", "Text": "a"}])),
        (document(app(content=[{"Type": "text"}])), at("/content/0/type", "/content/0/text")),
        versions=V54,
    ),
    case(
        "content-parts",
        document(app()),
        (
            document(app(content=[{"Type": "text", "Text": "a"}])),
            at("/content/0/type", "/content/0/text"),
        ),
        versions=V55,
    ),
    case(
        "content-parts-spelled",
        document(app()),
        (document(app(content=[{"Type": "text", "Text": "a"}])), at("/content/0")),
        (document(app(content=[{"type": "instruction", "text": "a"}])), at("/content/0/type")),
        versions=V54,
    ),
    case(
        "summary-text",
        answer(SUMMARY, ITEM),
        (answer({"@type": "SearchSummary", "name": "Eggs."}), at("/results/0/text")),
        versions=V55,
    ),
    case(
        "item-object",
        answer(ITEM),
        (answer("eggs", ITEM, None), at("/results/0", "/results/2")),
        (stream(START, result(0, "eggs"), COMPLETE), at("/item", seq=3)),
    ),
    case(
        "item-type",
        answer(ITEM),
        (answer({"name": "Eggs"}), at("/results/0/@type")),
        (answer({"@type": ""}), at("/results/0/@type")),
    ),
    case(
        "item-type-string",
        answer(ITEM, {"name": "Eggs"}),
        (answer({"@type": ["Recipe", "Thing"]}), at("/results/0/@type")),
        (answer(ITEM, {"@type": None}), at("/results/1/@type")),
    ),
    case(
        "item-url",
        answer({**ITEM, "url": "https://example.com/a?b#c"}, {**ITEM, "url": ["/a", "b/ü"]}),
        (answer({**ITEM, "url": "no such url"}), at("/results/0/url")),
        (answer({**ITEM, "url": None}), at("/results/0/url")),
        (answer({**ITEM, "url": ["/a", 5]}), at("/results/0/url/1")),
    ),
    case(
        "item-grounding",
        answer({**ITEM, "grounding": {"source": "book"}}),
        (answer(ITEM, {**ITEM, "grounding": "book"}), at("/results/1/grounding")),
    ),
)

PROMISES = (
    case(
        "promise-object",
        promise({"token": "p"}),
        (promise("p"), at("/promise")),
        (document(meta("promise")), at("/promise")),
    ),
    case(
        "promise-token",
        promise({"token": "p"}),
        (promise({}), at("/promise/token")),
        (promise({"token": 5}), at("/promise/token")),
        (promise({"token": ""}), at("/promise/token")),
    ),
    case(
        "promise-estimated-time",
        promise({"token": "p", "estimated_time": 30}),
        (promise({"token": "p", "estimated_time": 1.5}), at("/promise/estimated_time")),
        (promise({"token": "p", "estimated_time": -1}), at("/promise/estimated_time")),
        (promise({"token": "p", "estimated_time": "soon"}), at("/promise/estimated_time")),
        (promise({"token": "p", "estimated_time": True}), at("/promise/estimated_time")),
    ),
    case(
        "promise-estimate-plausible",
        promise({"token": "p", "estimated_time": 30}),
        (promise({"token": "p", "estimated_time": 31_536_000}), at("/promise/estimated_time")),
    ),
    case(
        "promise-progress",
        promise({"token": "p", "progress": 1}),
        (promise({"token": "p", "progress": 7}), at("/promise/progress")),
        (promise({"token": "p", "progress": "half"}), at("/promise/progress")),
        (promise({"token": "p", "progress": -0.1}), at("/promise/progress")),
    ),
    case(
        "promise-progress-monotone",
        promise({"token": "p", "progress": 0.5}).after(0.1, 0.5),
        (promise({"token": "p", "progress": 0.4}).after(0.1, 0.5), at("/promise/progress")),
    ),
    case(
        "promise-kept",
        failure({"code": "GONE"}).awaited("checkin").after(task_end=TaskEnd.ANSWERED),
        *(
            (promise({"token": "p"}).awaited("checkin").after(task_end=end), at("/promise"))
            for end in TaskEnd
        ),
    ),
    case(
        "promise-cancellation-kept",
        failure({"code": "CANCELLED"}).awaited("checkin").after(task_end=TaskEnd.CANCELLED),
        (answer(ITEM).awaited("checkin").after(task_end=TaskEnd.CANCELLED), at("")),
        (failure({"code": "GONE"}).awaited("checkin").after(task_end=TaskEnd.CANCELLED), at("")),
    ),
)

ELICITATIONS = (
    case(
        "elicitation-object",
        elicitation({"text": "Which?"}),
        (elicitation("Which?"), at("/elicitation")),
        (document(meta("elicitation")), at("/elicitation")),
        (elicitation({"text": "Which?", "questions": {}}), at(QUESTIONS)),
        (elicitation({"text": "Which?", "questions": None}), at(QUESTIONS)),
    ),
    case(
        "elicitation-not-empty",
        elicitation({"text": "Which?"}),
        (elicitation({}), at("/elicitation")),
        (elicitation({"text": " ", "questions": []}), at("/elicitation")),
    ),
    case(
        "question-complete",
        asking(question()),
        (asking({}), at(f"{QUESTIONS}/0/id", f"{QUESTIONS}/0/text", f"{QUESTIONS}/0/type")),
        (asking(question(), "Which?"), at(f"{QUESTIONS}/1")),
        (asking(question(text=5)), at(f"{QUESTIONS}/0/text")),
    ),
    case(
        "question-ids-unique",
        asking(question(), question(id="r")),
        (asking(question(), question()), at(f"{QUESTIONS}/1/id")),
    ),
    case(
        "question-type-known",
        asking(question(type="single_select")),
        (asking(question(type="text")), at(f"{QUESTIONS}/0/type")),
    ),
    case(
        "question-options",
        asking(question()),
        (asking(without(question(), "options")), at(f"{QUESTIONS}/0/options")),
        (asking(question(options=[])), at(f"{QUESTIONS}/0/options")),
        (asking(question(options={"a": 1})), at(f"{QUESTIONS}/0/options")),
        (asking(question(type="number", options=None)), at(f"{QUESTIONS}/0/options")),
        (asking(question(options=["a", {"b": 1}])), at(f"{QUESTIONS}/0/options/1")),
    ),
    case(
        "question-default",
        asking(question(default=["a"]), question(id="n", type="number", default=5)),
        (asking(question(default=["z"])), at(f"{QUESTIONS}/0/default")),
        (asking(question(type="boolean", default="yes")), at(f"{QUESTIONS}/0/default")),
        (asking(question(type="number", default="five")), at(f"{QUESTIONS}/0/default")),
        (asking(question(type="free_text", default=5)), at(f"{QUESTIONS}/0/default")),
    ),
    case(
        "elicitation-readable",
        asking(question()),
        (asking(*(question(id=f"q{n}") for n in range(500))), at(QUESTIONS)),
        (elicitation({"text": "a" * 1_000_000}), at("/elicitation/text")),
        (asking(question(text="<b>Which?</b>")), at(f"{QUESTIONS}/0/text")),
    ),
)

FAILURES = (
    case(
        "failure-error",
        failure({"code": "NO_RESULTS"}),
        (failure("nothing"), at("/error")),
        (document(meta("failure")), at("/error")),
    ),
    case(
        "failure-code",
        failure({"code": "NO_RESULTS"}),
        (failure({"message": "nothing"}), at("/error/code")),
        (failure({"code": 404}), at("/error/code")),
    ),
    case(
        "failure-code-known",
        failure({"code": "NO_RESULTS"}),
        (failure({"code": "MISSING_FIELD"}), at("/error/code")),
        (failure({"code": "CANCELLED"}), at("/error/code")),
    ),
    case(
        "failure-code-known",
        failure({"code": "CANCELLED"}).awaited("cancel"),
        (failure({"code": "INVALID_PARAMETER"}, 400), at("/error/code")),
        versions=V55,
    ),
    case(
        "await-reply",
        promise({"token": "p"}).awaited("checkin"),
        (elicitation({"text": "?"}).awaited("checkin"), at("/_meta/response_type")),
    ),
    case(
        "await-cancelled",
        failure({"code": "CANCELLED"}).awaited("cancel"),
        (promise({"token": "p"}).awaited("cancel"), at("/_meta/response_type")),
    ),
    case(
        "await-cancelled-code",
        failure({"code": "CANCELLED"}).awaited("cancel"),
        (failure({"code": "TIMEOUT"}).awaited("cancel"), at("/error/code")),
        (failure({}).awaited("cancel"), at("/error/code")),
    ),
    case(
        "await-token-kept",
        promise({"token": "p"}).awaited("checkin", "p"),
        (promise({"token": "q"}).awaited("checkin", "p"), at("/promise/token")),
    ),
)

ACTS = (
    case(
        "actions-list",
        acting(ACTION),
        (answer({"@type": "Recipe", "actions": "save"}), at(ACTIONS)),
        (answer({"@type": "Recipe", "actions": None}), at(ACTIONS)),
        (acting(ACTION, "save"), at(f"{ACTIONS}/1")),
    ),
    case(
        "actions-list",
        answer({"@type": "Recipe", "actions": ACTION}),
        (answer({"@type": "Recipe", "actions": 5}), at(ACTIONS)),
        versions=V54,
    ),
    case(
        "actions-list",
        acting(ACTION),
        (answer({"@type": "Recipe", "actions": ACTION}), at(ACTIONS)),
        versions=V55,
    ),
    case(
        "actions-single",
        acting(ACTION),
        (answer({"@type": "Recipe", "actions": ACTION}), at(ACTIONS)),
        versions=V54,
    ),
    case(
        "action-url",
        acting(ACTION, A2A),
        (acting({**ACTION, "endpoint": "https://example.com/a b"}), at(f"{ACTIONS}/0/endpoint")),
        (acting({**A2A, "agent_url": "https://a/{id}"}), at(f"{ACTIONS}/0/agent_url")),
        (acting({**A2A, "agent_url": "https://"}), at(f"{ACTIONS}/0/agent_url")),
        (acting({**ACTION, "endpoint": "https://[::1/cart"}), at(f"{ACTIONS}/0/endpoint")),
    ),
    case(
        "action-method",
        acting({**ACTION, "method": "PURGE"}),
    ),
    case(
        "action-headers",
        acting({**ACTION, "headers": {"X-Cart": "1", "Retry": 3}}),
        (acting({**ACTION, "headers": {"X Cart": "1"}}), at(f"{ACTIONS}/0/headers/X Cart")),
        (
            acting({**ACTION, "headers": {"A/b": {}, "A": []}}),
            at(f"{ACTIONS}/0/headers/A~1b", f"{ACTIONS}/0/headers/A"),
        ),
        (acting({**ACTION, "headers": {"A": "1\r\nB: 2"}}), at(f"{ACTIONS}/0/headers/A")),
    ),
    case(
        "action-method",
        acting(ACTION),
        (acting({**ACTION, "method": "post"}), at(f"{ACTIONS}/0/method")),
        (acting({**ACTION, "method": "FETCH IT"}), at(f"{ACTIONS}/0/method")),
    ),
    case(
        "action-complete",
        acting(ACTION, MCP, A2A),
        (
            acting(without(ACTION, "name", "description")),
            at(f"{ACTIONS}/0/name", f"{ACTIONS}/0/description"),
        ),
        (
            answer(NESTED),
            at(
                "/results/0/courses/0/dish/actions/0/name",
                "/results/0/courses/0/dish/actions/0/description",
            ),
        ),
    ),
    case(
        "action-protocol",
        acting(ACTION, MCP, A2A),
        (acting(without(ACTION, "protocol")), at(f"{ACTIONS}/0/protocol")),
        (acting({**ACTION, "protocol": "SMTP"}), at(f"{ACTIONS}/0/protocol")),
        (acting({**ACTION, "protocol": ["HTTP"]}), at(f"{ACTIONS}/0/protocol")),
    ),
    case(
        "action-target",
        acting(ACTION, MCP, A2A),
        (
            acting(without(ACTION, "method", "endpoint")),
            at(f"{ACTIONS}/0/method", f"{ACTIONS}/0/endpoint"),
        ),
        (acting({**MCP, "tool": 1}), at(f"{ACTIONS}/0/tool")),
        (acting(without(A2A, "skill")), at(f"{ACTIONS}/0/skill")),
        (
            answer({"@type": "Recipe", "actions": without(ACTION, "method", "protocol")}),
            at(f"{ACTIONS}/method"),
        ),
    ),
    case(
        "action-address",
        acting(ACTION, A2A),
        (acting({**ACTION, "endpoint": "javascript:alert(1)"}), at(f"{ACTIONS}/0/endpoint")),
        (acting({**ACTION, "endpoint": "/cart/add"}), at(f"{ACTIONS}/0/endpoint")),
        (acting({**A2A, "agent_url": "https://"}), at(f"{ACTIONS}/0/agent_url")),
    ),
    case(
        "schema-action",
        acting({**ACTION, "params": {"id": 1}}),
        (acting({**ACTION, "@type": 5}), at(f"{ACTIONS}/0/@type")),
    ),
    case(
        "schema-action",
        acting(MCP),
        (acting({**ACTION, "params": "id=1"}), at(f"{ACTIONS}/0/params")),
        (acting({**MCP, "arguments": []}), at(f"{ACTIONS}/0/arguments")),
        versions=V55,
    ),
)

CONTENTS: tuple[Case, ...] = (*ANSWERS, *PROMISES, *ELICITATIONS, *FAILURES, *ACTS)
