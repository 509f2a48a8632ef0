"""Actions of results (section 5) over HTTP, MCP and A2A."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.demo.corpus import CorpusItem

Action = dict[str, Any]
#: The name of the MCP server of this demo.
MCP_SERVER = "demo-mcp"


@dataclass(frozen=True, slots=True)
class DemoUrls:
    """Absolute URLs on the origin of the request."""

    static: str
    cookbook: str
    cart: str
    #: The A2A endpoint.
    a2a: str


def actions_of(entry: CorpusItem, links: DemoUrls) -> list[Action]:
    """Return the actions of an item: those of its type, else saving it."""
    if entry.kind == "Recipe":
        return _recipe(entry, links)
    if entry.kind == "Product":
        return _product(entry, links)
    if entry.kind == "Restaurant":
        return [_save(entry, links), _reserve(entry, links)]
    return [_save(entry, links)]


def http(
    kind: str, name: str, description: str, endpoint: str, method: str = "POST", **more: Any
) -> Action:
    """Return an action over HTTP; `more` are its params and headers."""
    return {
        **_common(kind, name, description, "HTTP"),
        "method": method,
        "endpoint": endpoint,
        **more,
    }


def _common(kind: str, name: str, description: str, protocol: str) -> Action:
    return {
        "@context": "http://schema.org/",
        "@type": kind,
        "name": name,
        "description": description,
        "protocol": protocol,
    }


def _recipe(entry: CorpusItem, links: DemoUrls) -> list[Action]:
    ingredients = list(entry.document.get("recipeIngredient", []))
    return [
        http("SaveAction", "save_recipe", f"Save {entry.name} to your cookbook",
             links.cookbook, params=_reference(entry)),
        http("AddToCartAction", "add_ingredients",
             f"Add the ingredients of {entry.name} to your shopping cart",
             links.cart, params={"items": ingredients}),
        http("FindAction", "find_in_cookbook", f"Find {entry.name} in your cookbook",
             links.cookbook, "GET", params={"q": entry.name}),
        {
            **_common("ConvertAction", "scale_recipe", f"Scale {entry.name} to four servings",
                     "MCP"),
            "server": MCP_SERVER,
            "tool": "scale_recipe",
            "arguments": {"url": entry.document["url"], "servings": 4},
        },
        _cart_add(f"Add the ingredients of {entry.name} to your cart over MCP", ingredients),
        _plan_shopping(entry, links),
    ]  # fmt: skip


def _product(entry: CorpusItem, links: DemoUrls) -> list[Action]:
    return [
        http("AddToCartAction", "add_product", f"Add {entry.name} to your shopping cart",
             links.cart, params={"items": [entry.name]},
             headers={"X-Cart-Source": "nlweb", "Accept": "application/json"}),
        http("DeleteAction", "remove_product", f"Remove {entry.name} from your shopping cart",
             links.cart, "DELETE", params={"q": entry.name}),
        _cart_add(f"Add {entry.name} to your cart over MCP", [entry.name]),
    ]  # fmt: skip


def _save(entry: CorpusItem, links: DemoUrls) -> Action:
    description = f"Save {entry.name} to your cookbook"
    return http("SaveAction", "note", description, links.cookbook, params=_reference(entry))


def _cart_add(description: str, items: list[str]) -> Action:
    return {
        **_common("AddToCartAction", "cart_add", description, "MCP"),
        "server": MCP_SERVER,
        "tool": "cart_add",
        "arguments": {"items": items},
    }


def _plan_shopping(entry: CorpusItem, links: DemoUrls) -> Action:
    return _a2a("PlanAction", "plan_shopping", f"Plan the shopping for {entry.name} over A2A",
                links, f"Plan the shopping for {entry.name}")  # fmt: skip


def _reserve(entry: CorpusItem, links: DemoUrls) -> Action:
    return _a2a("ReserveAction", "reserve_table", f"Reserve a table at {entry.name}", links,
                f"A table for two at {entry.name}, please.")  # fmt: skip


def _a2a(kind: str, skill: str, description: str, links: DemoUrls, text: str) -> Action:
    """Return an action over A2A, named after its skill."""
    return {
        **_common(kind, skill, description, "A2A"),
        "agent_url": links.a2a,
        "skill": skill,
        "message": {"role": "user", "parts": [{"kind": "text", "text": text}]},
    }


def _reference(entry: CorpusItem) -> Mapping[str, Any]:
    return {"name": entry.name, "url": entry.document["url"]}
