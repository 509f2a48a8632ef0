"""Breaks of NLWeb's replies, over HTTP and over MCP, after the text of 0.54 and 0.55.

Section numbers are those of the version that the mutant speaks. The text of 0.54 names few types:
what it shows in examples only has the level "should" there.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.qa.judge.from_specification.grammar import (
    Attribute,
    Variation,
    others,
    put,
    turned,
    unknown_members,
    vary,
)
from tests.qa.judge.from_specification.replies import HTTP_ACTION, JSON, Reply, asked
from tests.qa.judge.mutants import Level, changed, pointed, without

RESPONSE_TYPES = ("answer", "elicitation", "promise", "failure")
A = Attribute


def _meta(*, old: bool) -> list[Attribute]:
    loose: Level = "should" if old else "must"
    return [
        A("/_meta", "object", "§4: a response has `_meta`, an object.", "must"),
        A("/_meta/response_type", "string",
          "§4: response_type is required, one of answer, elicitation, promise and failure.", "must",
          values=RESPONSE_TYPES),
        A("/_meta/version", "string", "§4: the version is required; it is a string.", "must", loose,
          empty="must"),
        A("/_meta/session_context", "object", "§4: session_context is a context object."),
        A("/_meta/response_format", "string", "§4: response_format names a format, a string.",
          wrong=loose),
        A("/_meta/openai~1outputTemplate", "string", "§4: openai/outputTemplate is a string."),
        A("/_meta/openai~1widgetAccessible", "boolean", "§4: openai/widgetAccessible is boolean."),
    ]  # fmt: skip


def _item(at: str) -> list[Attribute]:
    """Return what §4.1.1 says of an item, in both versions."""
    return [
        A(at, "object", "§4.1.1: results and structuredData hold objects."),
        A(f"{at}/@type", "string", "§4.1.1: @type is recommended, a string.", "should"),
        A(f"{at}/grounding", "object", "§4.1.1: grounding is an object."),
    ]


def _action(at: str, protocol: str) -> list[Attribute]:
    """Return what §5 of 0.55 says of an action."""
    rows = [
        A(at, "object", "§5: an action is an object with the attributes listed."),
        A(f"{at}/@type", "string", "§5: an action's @type is a string."),
        A(f"{at}/name", "string", "§5: name is required, a string.", "must", empty="must"),
        A(f"{at}/description", "string", "§5: description is required, a string.", "must"),
        A(f"{at}/protocol", "string", "§5: protocol is required: HTTP, MCP or A2A.", "must",
          values=("HTTP", "MCP", "A2A")),
    ]  # fmt: skip
    strings, objects = {
        "HTTP": (("method", "endpoint"), ("params", "headers")),
        "MCP": (("server", "tool"), ("arguments",)),
        "A2A": (("agent_url", "skill"), ("message",)),
    }[protocol]
    for name in strings:
        said = f"§5: {name} is required of a {protocol} action, a string."
        rows.append(A(f"{at}/{name}", "string", said, "must", empty="must"))
    said = f"§5: what a {protocol} action sends is an object."
    return rows + [A(f"{at}/{name}", "object", said) for name in objects]


def _content() -> list[Attribute]:
    return [
        A("/content", "array", "§4.1.1: an app's content is required, an array.", "must"),
        A("/content/0", "object", "§4.1.1: content holds objects."),
        A("/content/0/type", "string", "§4.1.1: a part of content has the type “text”.", "must",
          values=("text",)),
        A("/content/0/text", "string", "§4.1.1: a part of content has a text, a string.", "must"),
        A("/structuredData", "array", "§4.1.1: structuredData is required, an array.", "must"),
        *_item("/structuredData/0"),
        *_item("/structuredData/1"),
    ]  # fmt: skip


def _promise(*, old: bool) -> list[Attribute]:
    loose: Level = "should" if old else "must"
    # 0.54 gives `promise_token`, which is this token, its type in the definition of await (MCP
    # examples), and requires it; a promise that is no object has none.
    return [
        A("/promise", "object", "§4.1.2: a promise is in `promise`, an object.", "must"),
        A("/promise/token", "string",
          "§4.1.2, §4.2: the token is required, a string that identifies the promise.", "must",
          empty="must"),
        A("/promise/estimated_time", "integer", "§4.1.2: estimated_time is an integer of seconds.",
          wrong=loose),
        A("/promise/message", "string", "§4.1.2: message is a string.", wrong=loose),
        A("/promise/progress", "number", "§4.1.2: progress is a number.", wrong=loose),
    ]  # fmt: skip


def _question(number: int, *, old: bool, select: bool) -> list[Attribute]:
    loose: Level = "should" if old else "must"
    at = f"/elicitation/questions/{number}"
    rows = [
        A(at, "object", "§4.1.3: questions are objects.", wrong=loose),
        A(f"{at}/id", "string", "§4.1.3: a question's id is required, a string.", loose, loose,
          empty=loose),
        A(f"{at}/text", "string", "§4.1.3: a question's text is required.", loose, loose),
        A(f"{at}/type", "string", "§4.1.3: a question's type is required.", loose, loose),
    ]  # fmt: skip
    said = "§4.1.3: options are strings, in an array, required of the two selects."
    options = A(f"{at}/options", "array", said, wrong=loose)
    if select:
        rows.append(A(f"{at}/options", "array", said, loose, loose, empty=loose))
        rows.append(A(f"{at}/options/1", "string", said, wrong=loose))
    else:
        rows.append(options)
    return rows


def _elicitation(*, old: bool) -> list[Attribute]:
    loose: Level = "should" if old else "must"
    rows = [
        A("/elicitation", "object", "§4.1.3: `elicitation` holds what is asked.", "must", loose),
        A("/elicitation/text", "string", "§4.1.3: text is a string.", wrong=loose),
        A("/elicitation/questions", "array", "§4.1.3: questions is an array.", wrong=loose),
    ]
    for number in range(2 if old else 5):
        rows += _question(number, old=old, select=number < 2)
    return rows


def _failure(*, old: bool) -> list[Attribute]:
    loose: Level = "should" if old else "must"
    return [
        A("/error", "object", "§4.1.4: a failure has `error`, an object.", "must", loose),
        A("/error/code", "string", "§4.1.4: the code is required, a string.", loose, loose,
          empty=loose),
        A("/error/message", "string", "§4.1.4: the message is a string.", wrong=loose),
    ]  # fmt: skip


def _results(*items: int) -> list[Attribute]:
    rows = [A("/results", "array", "§4.1.1: results is an array of items.", "must")]
    for number in items:
        rows += _item(f"/results/{number}")
    return rows


def attributes(reply: Reply, *, old: bool) -> list[Attribute]:
    """Return the attributes that the specification defines for a reply of this kind."""
    rows = _meta(old=old)
    if "results" in reply.document:
        rows += _results(*range(len(reply.document["results"])))
        actions = A("/results/0/actions", "array", "§4.1.1: actions is an array.")
        if old:
            loose: Level = "should"
            at = "/results/0/actions/0"
            rows.append(A(at, "object", "§4.1.1: each action is an object."))
            for name in ("name", "description", "endpoint", "method"):
                said = f"§7 and example 1: an action shows {name}, a string."
                rows.append(A(f"{at}/{name}", "string", said, loose, loose))
        else:
            rows.append(actions)
    if reply.name == "actions":
        for number, protocol in enumerate(("HTTP", "MCP", "A2A")):
            rows += _action(f"/results/0/actions/{number}", protocol)
    if "content" in reply.document:
        rows += _content()
    if "promise" in reply.document:
        rows += _promise(old=old)
    if "elicitation" in reply.document:
        rows += _elicitation(old=old)
    if "error" in reply.document:
        rows += _failure(old=old)
    return rows


def variations(reply: Reply, *, old: bool) -> Iterator[Variation]:
    """Vary a reply: every attribute by the grammar, then what only the text can tell."""
    for variation in vary(reply.document, attributes(reply, old=old)):
        if old and reply.name == "failure" and variation.name == "/_meta/version is missing":
            reason = "§4.1.4 itself shows a failure without a version, against §4."
            yield Variation(variation.name, variation.document, "", reason)
        elif old and _capital(variation.name, reply):
            reason = "§4 itself writes the response types with a capital letter."
            yield Variation(variation.name, variation.document, "", reason)
        else:
            yield variation
    yield from _conforming(reply)
    yield from (_by_text_older(reply) if old else _by_text(reply))


def _capital(name: str, reply: Reply) -> bool:
    kind = reply.document["_meta"]["response_type"]
    return name == f"/_meta/response_type is “{kind.capitalize()}”"


def _objects(document: Any, at: str = "") -> Iterator[str]:
    """List the pointers of the objects that the specification leaves open."""
    if isinstance(document, dict):
        yield at
        for name, value in document.items():
            if name not in ("nutrition", "params", "headers", "arguments", "message", "details"):
                yield from _objects(value, f"{at}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(document, list):
        for number, value in enumerate(document[:2]):
            yield from _objects(value, f"{at}/{number}")


def _conforming(reply: Reply) -> Iterator[Variation]:
    document = reply.document
    yield Variation("as it is", document, "", "An example of the specification.")
    yield Variation("members turned round", turned(document), "", "JSON objects have no order.")
    reason = "§2.2: responses are extensible objects; §4: other metadata as needed."
    yield from unknown_members(document, _objects(document), reason)
    text, said = "Ünïcødé 🍳 مرحبا \u2028 \u0000 <b>&amp;", "Any text is a string."
    for pointer in ("/results/0/name", "/promise/message", "/elicitation/text", "/error/message"):
        if pointer.split("/")[1] in document:
            yield from put(
                document, "",
                (f"{pointer} of many scripts", pointer, text, said),
                (f"{pointer} is long", pointer, "é" * 5000, said),
            )  # fmt: skip
    if "results" in document:
        item = document["results"][0]
        many = [item, *[{"@type": "Recipe", "name": str(n)} for n in range(80)]]
        kinds = "Movie Product HowToSection FAQPage https://schema.org/Recipe x:Own".split()
        own, vocabulary = ["https://schema.org", "https://example.com/own"], "https://schema.org/"
        yield from put(
            document, "",
            *((f"an item of type {kind}", "/results/0", {**item, "@type": kind},
               "§4.1.1: any defined schema is permissible.") for kind in kinds),
            ("@context is an array", "/results/0/@context", own, "§2.2: @context is JSON-LD's."),
            ("@context is an object", "/results/0/@context", {"@vocab": vocabulary},
             "§2.2: @context is JSON-LD's."),
            ("many results", "/results", many, "No stated length."),
        )  # fmt: skip
        if reply.name != "summary":  # whose request asks for a list
            said = "§4.1.1: results is an array, of no stated length."
            yield from put(document, "", ("no results", "/results", [], said))


def _moved(document: JSON, *rows: tuple[str, str, str, str]) -> Iterator[Variation]:
    """Move values within a document, one in each variation: its name, from, to, and sentence."""
    for name, source, target, sentence in rows:
        made = without(changed(document, target, pointed(document, source)), source)
        yield Variation(name, made, "must", sentence, (source, target))


def _by_text(reply: Reply) -> Iterator[Variation]:
    """Return what the text of 0.55 says beyond names and types."""
    document = reply.document
    kind = document["_meta"]["response_type"]
    content = {"answer": "results", "promise": "promise", "elicitation": "elicitation"}.get(
        kind, "error"
    )
    content = "structuredData" if reply.name == "widget" else content

    def broken(
        name: str, made: Any, sentence: str, *pointers: str, level: Any = "must"
    ) -> Variation:
        return Variation(name, made, level, sentence, pointers)

    for sample, value in others(document):
        yield broken(f"the reply is of type {sample}", value, "§4: responses are objects.", "")
    yield from _moved(
        document,
        ("`meta` for `_meta`", "/_meta", "/meta",
         "§4: a response's metadata is `_meta`, a request's `meta`."),
        *((f"{name} outside _meta", f"/_meta/{name}", f"/{name}",
           f"§4: {name} is an attribute of `_meta`.") for name in ("response_type", "version")),
        (f"{content} within _meta", f"/{content}", f"/_meta/{content}",
         "§4: the content stands beside `_meta`."),
    )  # fmt: skip
    for other in RESPONSE_TYPES:
        if other != kind:
            yield broken(
                f"called {other}",
                changed(document, "/_meta/response_type", other),
                "§4.1: the content is a function of the response type.",
                "/_meta/response_type",
                *(f"/{name}" for name in ("results", "promise", "elicitation", "error", content)),
            )
    yield from {
        "promise": _promises_by_text,
        "elicitation": _elicitations_by_text,
        "failure": _failures_by_text,
        "cancelled": _cancelled_by_text,
        "still": _promises_by_text,
        "answer": _answers_by_text,
        "kept": _answers_by_text,
        "summary": _summaries_by_text,
        "actions": _actions_by_text,
        "widget": _widgets_by_text,
    }[reply.name](document, broken)


def _promises_by_text(document: JSON, broken: Any) -> Iterator[Variation]:
    at, said = "/promise/progress", "§4.1.2: progress is between 0 and 1."
    wrong = (-0.1, 1.01, 10, 100, -1)
    yield from put(document, "must", *((f"progress {value}", at, value, said) for value in wrong))
    for name, values, said in (
        ("progress", (0, 1, 0.0, 1.0, 0.999), "§4.1.2: between 0 and 1."),
        ("estimated_time", (0, 86400), "§4.1.2: an integer."),
    ):
        rows = ((f"{name} {value}", f"/promise/{name}", value, said) for value in values)
        yield from put(document, "", *rows)
    said = "§4.1.2: the token is an attribute of the promise."
    yield from _moved(document, ("the token beside the promise", "/promise/token", "/token", said))
    said = "§4.1.2: the promise has attributes."
    token = document["promise"]["token"]
    yield from put(document, "must", ("the promise is only its token", "/promise", token, said))


def _elicitations_by_text(document: JSON, broken: Any) -> Iterator[Variation]:
    at = "/elicitation/questions"
    questions = document["elicitation"]["questions"]
    yield broken(
        "two questions of one id",
        changed(document, f"{at}/1/id", questions[0]["id"]),
        "§4.1.3: an id is unique to its question.",
        f"{at}/1/id",
        f"{at}/0/id",
    )
    for kind in ("single_select", "multi_select"):
        yield broken(
            f"a {kind} without options",
            changed(document, f"{at}/4/type", kind),
            "§4.1.3: options are required of the two selects.",
            f"{at}/4/options",
        )
    yield from put(
        document, "must",
        ("questions are keyed by id", at, {question["id"]: question for question in questions},
         "§4.1.3: questions is an array."),
        ("options are objects", f"{at}/0/options", [{"value": "vegan", "label": "Vegan"}],
         "§4.1.3: options are strings."),
        ("questions beside the elicitation", "/elicitation", questions,
         "§4.1.3: elicitation has attributes."),
    )  # fmt: skip
    said = "§4.1.3: the elicitation holds the information that is requested."
    yield from put(
        document, "should",
        ("it asks nothing", "/elicitation", {}, said),
        ("it asks an empty list", "/elicitation", {"questions": []}, said),
    )  # fmt: skip
    said = "§4.1.3: the defined types are listed; others may be introduced."
    kinds = ("date", "Single_Select", "slider", "single-select")
    rows = [(f"a question of type {kind}", f"{at}/2/type", kind, said) for kind in kinds]
    yield from put(document, "info", *rows)
    yield from put(
        document, "",
        *((f"a default {value!r}", f"{at}/2/default", value, "§4.1.3: a default is of any type.")
          for value in ("vegan", ["vegan"], 3, None, {"a": 1}, False)),
        *((f"options of a {kind}", f"{at}/{number}/options", ["a", "b"],
           "§4.1.3: options are optional.")
          for number, kind in ((2, "number"), (3, "boolean"), (4, "free_text"))),
        ("text and no question in the list", at, [],
         "§4.1.3: the length of questions is not stated; the text asks."),
    )  # fmt: skip


def _cancelled_by_text(document: JSON, broken: Any) -> Iterator[Variation]:
    said = "§4.2: a task that was cancelled returns a failure with code CANCELLED."
    for code in ("TIMEOUT", "INTERNAL_ERROR", "NO_RESULTS"):
        yield from put(document, "must", (f"cancelled with {code}", "/error/code", code, said))


def _failures_by_text(document: JSON, broken: Any) -> Iterator[Variation]:
    listed = (
        "INVALID_QUERY UNSUPPORTED_FORMAT UNSUPPORTED_MODE RATE_LIMITED INTERNAL_ERROR TIMEOUT "
        "TOKEN_LIMIT"
    ).split()
    own = ("SOLD_OUT", "no_results", "NoResults", "404", "INVALID_PARAMETER")
    levels: tuple[tuple[Level, Any, str], ...] = (
        ("", listed, "§4.1.4 lists it; §7.4: with HTTP 200."),
        ("info", own, "§4.1.4: the standard codes are listed; others may be introduced."),
    )
    for level, codes, said in levels:
        rows = ((f"code {code}", "/error/code", code, said) for code in codes)
        yield from put(document, level, *rows)
    [moved] = _moved(
        document,
        ("the code in _meta", "/error/code", "/_meta/code",
         "§4.1.4: the code is an attribute of the error."),
    )  # fmt: skip
    yield replace(moved, pointers=("/error/code",))
    yield broken(
        "the code beside the error",
        {"_meta": document["_meta"], "code": "NO_RESULTS", "message": "None."},
        "§4.1.4: a failure has `error`.",
        "/error",
        "/code",
    )


def _answers_by_text(document: JSON, broken: Any) -> Iterator[Variation]:
    items = document["results"]
    said = "§4.1.1: results is an array."
    yield from put(
        document, "must",
        ("results keyed by number", "/results", {str(n): item for n, item in enumerate(items)},
         said),
        ("one result without its array", "/results", items[0], said),
        ("results within results", "/results/0", [items[0]], "§4.1.1: results holds objects."),
        ("actions not in an array", "/results/0/actions", HTTP_ACTION,
         "§4.1.1: actions is an array."),
        ("@type is a list of types", "/results/0/@type", ["Recipe", "HowTo"],
         "§4.1.1: @type is a string."),
    )  # fmt: skip
    said = "§4.1.1: the attribute is called results."
    yield from _moved(document, ("results called items", "/results", "/items", said))
    yield broken(
        "an app without content",
        changed(document, "/_meta/response_format", "chatgpt_app"),
        "§4.1.1: content and structuredData are required of chatgpt_app.",
        *("/content", "/structuredData", "/results", "/_meta/response_format"),
    )
    yield from put(
        document, "",
        ("a format of its own", "/_meta/response_format", "vendor_table",
         "§3.3.1: the formats are open-ended."),
        ("another version", "/_meta/version", "0.54",
         "No sentence asks a reply to be of the version of its request."),
    )  # fmt: skip


def _summaries_by_text(document: JSON, broken: Any) -> Iterator[Variation]:
    said = "§4.1.1: with mode summarize, a summary item has a text."
    text = "/results/0/text"
    for name, made, *places in (
        ("no summary", changed(document, "/results", document["results"][1:])),
        ("a summary without text", without(document, text), text),
        ("a summary whose text is a list", changed(document, text, ["Here", "are"]), text),
    ):
        yield broken(name, made, said, "/results", *places, level="should")
    yield from put(
        document, "",
        ("a summary of another type", "/results/0/@type", "RecipeOverview",
         "§4.1.1: SearchSummary or a type of the domain."),
        ("the summary last", "/results", document["results"][::-1], "No position is stated."),
    )  # fmt: skip


def _actions_by_text(document: JSON, broken: Any) -> Iterator[Variation]:
    at = "/results/0/actions"
    for other, number in (("MCP", 0), ("A2A", 0), ("HTTP", 1), ("A2A", 1), ("HTTP", 2), ("MCP", 2)):
        yield broken(
            f"action {number} is said to be {other}",
            changed(document, f"{at}/{number}/protocol", other),
            f"§5: the attributes of a {other} action are required.",
            f"{at}/{number}",
        )
    endpoint, headers = f"{at}/0/endpoint", f"{at}/0/headers"
    urls = ("https://exa mple.com/a b", "not a url", "http://", "https://[::1/cart")
    yield from put(
        document, "must",
        *((f"method {method!r}", f"{at}/0/method", method, "§5: method is an HTTP method.")
          for method in ("GET /cart", "PO ST", "POST\r\n")),
        *((f"endpoint {url}", endpoint, url, "§5: endpoint is a URL.") for url in urls),
        *((f"agent_url {url}", f"{at}/2/agent_url", url,
           "§5: agent_url is the endpoint of an agent.") for url in urls),
        *((f"headers {value!r}", headers, value,
           "§5: headers holds HTTP headers, a name and a value each.")
          for value in (
              {"X-Cart": {"a": 1}}, {"X-Cart": "a\r\nHost: b"}, {"X Cart": "a"}, {"": "a"})),
    )  # fmt: skip
    urls = ("http://127.0.0.1:8000/", "https://müller.example/köche", "https://a.example/x?y=1#z")
    yield from put(
        document, "",
        *((f"method {method}", f"{at}/0/method", method, "§5: an HTTP method, of no stated list.")
          for method in ("GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "PURGE")),
        *((f"endpoint {url}", endpoint, url, "§5: a URL.") for url in urls),
        ("no actions in the list", at, [], "No stated length."),
        ("an action of its own type", f"{at}/0/@type", "OwnAction",
         "§5: schema.org is recommended."),
    )  # fmt: skip


def _widgets_by_text(document: JSON, broken: Any) -> Iterator[Variation]:
    said = "§4.1.1: content is an array of objects."
    one = ("content is one text", "/content", "Here are quick lunch ideas.", said)
    yield from put(document, "must", one)
    said = "§4.1.1: the attribute is called structuredData."
    moved = ("structuredData called structured_data", "/structuredData", "/structured_data", said)
    yield from _moved(document, moved)
    made = without(document, "/_meta/response_format")
    yield Variation("asked for and not named", made, "", "§4: response_format is optional.")
    more = [*document["content"], {"type": "text", "text": "And more."}]
    yield Variation("two texts", changed(document, "/content", more), "", "No stated length.")
    yield Variation("no items", changed(document, "/structuredData", []), "", "No stated length.")


def _by_text_older(reply: Reply) -> Iterator[Variation]:
    """Return what the text of 0.54 says beyond names and types."""
    document = reply.document
    rest = {name: value for name, value in document.items() if name != "_meta"}
    yield Variation(
        "`meta` for `_meta`",
        {"meta": document["_meta"], **rest},
        "",
        "§4: a field for metadata (meta or _meta).",
    )
    for sample, value in others(document):
        yield Variation(
            f"the reply is of type {sample}",
            value,
            "should" if reply.status == 400 else "must",
            "§4: the response should always be a JSON object; its metadata is required.",
            ("",),
        )
    if reply.name == "promise":
        made = {"response_type": "promise", **rest}
        yield Variation("no _meta, as in its example", made, "", "§4.1.2 shows it so.")
    if reply.name == "elicitation":
        alone, at = {"text": "What type of sauce do you prefer?"}, "/elicitation/questions/0/type"
        yield from put(
            document, "",
            ("text alone", "/elicitation", alone, "Example 3 asks so."),
            *((f"a question of type {kind}", at, kind, "0.54 lists no types.")
              for kind in ("free_text", "number", "date")),
        )  # fmt: skip
    if reply.name == "failure":
        codes = ("NO_RESULTS", "SOLD_OUT", "TOKEN_LIMIT")
        rows = ((f"code {code}", "/error/code", code, "0.54 lists no codes.") for code in codes)
        yield from put(document, "", *rows)
        bare = without(document, "/error/details")
        yield Variation("no details", bare, "", "§4.1.4: no details.")
    if reply.name == "answer":
        at = "/results/0/actions"
        said = "§7 shows one object, §4.1.1 says an array: both are read."
        one = ("one action without its array", at, pointed(document, f"{at}/0"), said)
        yield from put(document, "info", one)
        said = "§4.1.1: actions is an array."
        wrong = ((f"actions is {value!r}", at, value, said) for value in ("save", 7, True))
        yield from put(document, "must", *wrong)
        yield from put(
            document, "",
            ("the action of section 7", f"{at}/0", HTTP_ACTION, "§7."),
            ("a summary in _meta", "/_meta/summary", "Found 2 protein-rich recipes", "Example 2."),
        )  # fmt: skip
    if reply.name == "widget":
        parts = [{"Type": "text", "Text": "Here are quick lunch ideas."}]
        said = "§4.1.1 writes Type and Text, the example type and text: both pass."
        yield from put(document, "info", ("Type and Text", "/content", parts, said))


def requests(version: str) -> JSON:
    """Return the request of a stream."""
    return asked(
        version, "a detailed tutorial on making homemade pasta", prefer={"streaming": True}
    )
