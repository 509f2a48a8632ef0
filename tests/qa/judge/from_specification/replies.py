"""Replies that conform, after the examples of the specifications; every break starts from one."""

from dataclasses import dataclass
from typing import Any

JSON = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """An NLWeb reply: its document, what was asked, and the HTTP status it is sent with."""

    name: str
    document: JSON
    request: JSON
    operation: str = "ask"
    status: int = 200


def asked(version: str, text: str = "healthy breakfast recipes with eggs", **more: Any) -> JSON:
    return {"query": {"text": text}, **more, "meta": {"version": version}}


def polled(version: str, action: str = "checkin") -> JSON:
    return {
        "promise_token": "promise_mealplan_xyz789",
        "action": action,
        "meta": {"version": version},
    }


EGGS: JSON = {
    "@type": "Recipe",
    "@context": "https://schema.org",
    "name": "Veggie-Packed Scrambled Eggs",
    "description": "Nutritious scrambled eggs loaded with colorful vegetables",
    "url": "https://recipes.example.com/veggie-scrambled-eggs",
    "cookTime": "PT15M",
    "nutrition": {"@type": "NutritionInformation", "calories": "220 calories"},
    "recipeIngredient": ["4 large eggs", "1/2 cup diced bell peppers"],
    "grounding": {"source": "user-submitted", "author": "Chef Maria"},
}
HTTP_ACTION: JSON = {
    "@context": "http://schema.org/",
    "@type": "AddToCartAction",
    "name": "add_ingredients",
    "description": "Add recipe ingredients for XYZ to your shopping cart",
    "protocol": "HTTP",
    "method": "POST",
    "endpoint": "https://api.recipes.example.com/cart/add",
    "params": {"items": ["4 large eggs", "1/2 cup diced bell peppers"]},
    "headers": {"X-Cart": "weekly"},
}
MCP_ACTION: JSON = {
    "name": "add_to_cart",
    "description": "Add recipe ingredients to your shopping cart",
    "protocol": "MCP",
    "server": "grocery-store-mcp",
    "tool": "cart_add",
    "arguments": {"items": ["4 large eggs"]},
}
A2A_ACTION: JSON = {
    "name": "plan_week",
    "description": "Let the planner arrange the week",
    "protocol": "A2A",
    "agent_url": "https://planner.example.com/a2a",
    "skill": "plan_week",
    "message": {"role": "user", "parts": [{"kind": "text", "text": "Plan my week"}]},
}
OLD_ACTION: JSON = {
    "@type": "SaveAction",
    "name": "save_recipe",
    "description": "Save this recipe to your cookbook",
    "endpoint": "https://api.recipes.example.com/user/saved",
    "method": "POST",
}
SUMMARY: JSON = {"@type": "SearchSummary", "text": "Here are protein-rich recipes with cinnamon."}
SELECTS: list[JSON] = [
    {
        "id": "dietary_restrictions",
        "text": "Do you have any dietary restrictions or preferences?",
        "type": "multi_select",
        "options": ["vegetarian", "vegan", "gluten-free", "dairy-free", "none"],
    },
    {
        "id": "protein_type",
        "text": "What type of protein would you like?",
        "type": "single_select",
        "options": ["chicken", "beef", "fish", "no preference"],
    },
]
OTHER_QUESTIONS: list[JSON] = [
    {"id": "guests", "text": "How many guests?", "type": "number", "default": 2},
    {"id": "oven", "text": "Do you have an oven?", "type": "boolean", "default": True},
    {"id": "wish", "text": "Anything else?", "type": "free_text"},
]
VAGUE = "I need something for dinner"
PLAN = "create a personalized weekly meal plan with shopping list"


def head(kind: str, version: str, **more: Any) -> JSON:
    return {"_meta": {"response_type": kind, "version": version, **more}}


def promise(version: str, progress: float = 0.1) -> JSON:
    return {
        **head("promise", version, session_context={"conversation_id": "conv_meal_plan_789"}),
        "promise": {
            "token": "promise_mealplan_xyz789",
            "estimated_time": 30,
            "message": "Analyzing your meal history and preferences...",
            "progress": progress,
        },
    }


def widget(version: str) -> JSON:
    named = {"response_format": "chatgpt_app"} if version == "0.55" else {}
    return {
        **head(
            "answer",
            version,
            **named,
            **{
                "openai/outputTemplate": "https://example.com/recipe-widget",
                "openai/widgetAccessible": True,
            },
        ),
        "content": [{"type": "text", "text": "Here are quick lunch ideas with avocado."}],
        "structuredData": [
            {"@type": "Recipe", "name": "Avocado Toast Supreme", "cookTime": "PT10M"},
            {"@type": "Recipe", "name": "California Avocado Wrap", "cookTime": "PT5M"},
        ],
    }


def newer() -> list[Reply]:
    """Return replies of NLWeb 0.55."""
    version = "0.55"
    answer = {
        **head(
            "answer",
            version,
            response_format="conversational_search",
            session_context={"conversation_id": "conv_98765"},
            processing_time_ms=145,
        ),
        "results": [EGGS, {"@type": "Restaurant", "name": "Idaho Pumpkin Place"}],
    }
    summarized = {
        **head("answer", version, response_format="conversational_search"),
        "results": [SUMMARY, {"@type": "Recipe", "name": "Pumpkin spice with coconut"}],
    }
    acting = {
        **head("answer", version),
        "results": [
            {
                "@type": "Recipe",
                "name": "Scrambled eggs",
                "actions": [HTTP_ACTION, MCP_ACTION, A2A_ACTION],
            }
        ],
    }
    elicitation = {
        **head("elicitation", version),
        "elicitation": {
            "text": "To provide the best recommendations, could you tell me:",
            "questions": SELECTS + OTHER_QUESTIONS,
        },
    }
    failure = {
        **head("failure", version),
        "error": {"code": "NO_RESULTS", "message": "No recipes found matching your query."},
    }
    cancelled = {
        **head("failure", version),
        "error": {"code": "CANCELLED", "message": "The task was cancelled."},
    }
    summary = asked(version, prefer={"mode": "list, summarize"})
    app = asked(version, prefer={"response_format": "chatgpt_app"})
    return [
        Reply("answer", answer, asked(version)),
        Reply("summary", summarized, summary),
        Reply("actions", acting, asked(version)),
        Reply("widget", widget(version), app),
        Reply("promise", promise(version), asked(version, PLAN), status=202),
        Reply("elicitation", elicitation, asked(version, VAGUE)),
        Reply("failure", failure, asked(version, "recipes from planet Mars")),
        Reply("still", promise(version, 0.65), polled(version), "await", 202),
        Reply("kept", answer, polled(version), "await"),
        Reply("cancelled", cancelled, polled(version, "cancel"), "await"),
    ]


def older() -> list[Reply]:
    """Return replies of NLWeb 0.54."""
    version = "0.54"
    answer = {
        **head(
            "answer",
            version,
            session_context={"conversation_id": "conv_98765"},
            processing_time_ms=145,
        ),
        "results": [{**EGGS, "actions": [OLD_ACTION]}, {"@type": "Restaurant", "title": "Idaho"}],
    }
    elicitation = {
        **head("elicitation", version),
        "elicitation": {"text": "Could you tell me:", "questions": SELECTS},
    }
    failure = {
        **head("failure", version, timestamp="2024-01-18T15:30:45Z"),
        "error": {
            "code": "INVALID_PARAMETER",
            "message": "The parameter 'max_cooking_time' must be a valid duration",
            "details": {"parameter": "max_cooking_time"},
        },
    }
    app = asked(version, prefer={"response_format": "chatgpt_app"})
    return [
        Reply("answer", answer, asked(version)),
        Reply("widget", widget(version), app),
        Reply("promise", promise(version), asked(version, PLAN), status=202),
        Reply("elicitation", elicitation, asked(version, VAGUE)),
        Reply("failure", failure, asked(version, "recipes with"), status=400),
        Reply("still", promise(version, 0.65), polled(version), "await", 202),
        Reply("kept", answer, polled(version), "await"),
    ]


def streamed(version: str) -> list[tuple[str, JSON]]:
    """Return the events of the streaming example, after its section or example 5."""
    return [
        ("start", head("answer", version, streaming=True)),
        ("result", {"index": 0, "item": {**SUMMARY, "text": "A guide to making fresh pasta."}}),
        ("result", {"index": 1, "item": EGGS}),
        ("result", {"index": 2, "item": {"@type": "Recipe", "name": "Semolina Pasta"}}),
        (
            "complete",
            head("answer", version, session_context={"conversation_id": "conv_pasta_456"}),
        ),
    ]


def broken_off(version: str) -> list[tuple[str, JSON]]:
    """Return a stream that an error event ends."""
    error = {"code": "TIMEOUT", "message": "The request timed out."}
    return [*streamed(version)[:2], ("error", {**head("failure", version), "error": error})]


def _message(name: str, kind: str, *parts: JSON) -> JSON:
    """Return a message of the Agent API that is completed, with parts in its content."""
    content = [
        {
            "object": "content", "type": part["type"], "status": "completed", "index": index,
            "delta": False, "msg_id": name, **part,
        }
        for index, part in enumerate(parts)
    ]  # fmt: skip
    return {
        "id": name, "object": "message", "type": kind, "status": "completed", "role": "assistant",
        "content": content,
    }  # fmt: skip


MESSAGE = _message(
    "msg_abc",
    "message",
    {"type": "text", "text": "This image shows a cat."},
    {"type": "image", "image_url": "https://images.example.com/cat.png"},
    {"type": "data", "data": {"animals": 1}},
)


def _calling(kind: str, number: int, data: JSON) -> JSON:
    return _message(f"msg_{number}", kind, {"type": "data", "data": data})


CALL = _calling(
    "function_call", 1, {"call_id": "call_1", "name": "weather", "arguments": '{"city": "Riga"}'}
)
OUTPUT = _calling("function_call_output", 2, {"call_id": "call_1", "output": "Rain, 9 degrees"})


def whole() -> JSON:
    """Return an Agent API response that is not streamed, with every attribute of the models."""
    return {
        "sequence_number": "9",
        "id": "response_123",
        "object": "response",
        "status": "completed",
        "created_at": 1767225600,
        "completed_at": 1767225603,
        "error": None,
        "output": [CALL, OUTPUT, MESSAGE],
        "usage": {"input_tokens": 12, "output_tokens": 30},
        "session_id": "session_1",
    }


def refused() -> JSON:
    """Return an Agent API response that failed."""
    return {
        "id": "response_123",
        "object": "response",
        "status": "failed",
        "created_at": 1767225600,
        "error": {"code": "MODEL_UNAVAILABLE", "message": "The model did not answer."},
        "session_id": "session_1",
    }


def sequence() -> list[JSON]:
    """Return the second example stream, with the types that the enumerations list."""
    part = {"object": "content", "type": "text", "index": 0, "msg_id": "msg_abc"}
    response = {"id": "response_123", "object": "response", "created_at": 1767225600}
    message = {"id": "msg_abc", "object": "message", "type": "message", "role": "assistant"}
    text = {**part, "status": "completed", "delta": False, "text": "This image shows..."}
    done = {**message, "status": "completed", "content": [text]}
    return [
        {**response, "status": "created", "session_id": "session_1"},
        {**response, "status": "in_progress", "session_id": "session_1"},
        {**message, "status": "created"},
        {**part, "status": "in_progress", "delta": True, "text": "This"},
        {**part, "status": "in_progress", "delta": True, "text": " image shows..."},
        text,
        done,
        {
            **response,
            "status": "completed",
            "session_id": "session_1",
            "completed_at": 1767225603,
            "output": [done],
            "usage": {"output_tokens": 30},
        },
    ]


def first_example() -> list[JSON]:
    """Return the example of “Content Streaming” as it stands, its contradictions included."""
    part = {"type": "text", "index": 0, "object": "content"}
    return [
        {"status": "created", "id": "response_1", "object": "response"},
        {"status": "created", "id": "msg_1", "object": "message", "type": "assistant"},
        {**part, "status": "in_progress", "delta": True, "text": "Hello"},
        {**part, "status": "in_progress", "delta": True, "text": ", "},
        {**part, "status": "in_progress", "delta": True, "text": "world"},
        {**part, "status": "completed", "delta": False, "text": "Hello, world!"},
        {"status": "completed", "id": "msg_1", "object": "message"},
        {"status": "completed", "id": "response_1", "object": "response"},
    ]


def second_example() -> list[JSON]:
    """Return the example of “Agent Response Stream” as it stands."""
    part = {"type": "text", "index": 0, "object": "content", "msg_id": "msg_abc"}
    return [
        {"id": "response_123", "object": "response", "status": "created"},
        {"id": "msg_abc", "object": "message", "type": "assistant", "status": "created"},
        {**part, "status": "in_progress", "delta": True, "text": "This"},
        {**part, "status": "in_progress", "delta": True, "text": " image shows..."},
        {**part, "status": "completed", "delta": False, "text": "This image shows..."},
        {"id": "msg_abc", "status": "completed", "object": "message"},
        {"id": "response_123", "status": "completed", "object": "response"},
    ]
