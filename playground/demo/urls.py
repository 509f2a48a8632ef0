"""URLs of the demo, included under `demo/`."""

from __future__ import annotations

from django.urls import path, re_path

from playground.demo import chat_completions, jsonrpc, lists, views
from playground.demo.a2a.views import a2a, card
from playground.demo.agent_api import views as agent_api
from playground.demo.mcp.views import mcp
from playground.demo.scenarios import actions

urlpatterns = [
    path("", views.page, name="demo"),
    path("ask", views.ask, name="demo-ask"),
    path("await", views.await_, name="demo-await"),
    path("cookbook/", lists.saved_list, {"name": "cookbook"}, name="demo-cookbook"),
    path("cookbook/<int:pk>", lists.entry, {"name": "cookbook"}, name="demo-cookbook-entry"),
    path("cart/", lists.saved_list, {"name": "cart"}, name="demo-cart"),
    path("cart/<int:pk>", lists.entry, {"name": "cart"}, name="demo-cart-entry"),
    path("mcp", mcp, name="demo-mcp"),
    path("mcp/older", mcp, {"only": "2025-11-25"}, name="demo-mcp-stateful"),
    path("mcp/newer", mcp, {"only": "2026-07-28"}, name="demo-mcp-stateless"),
    path("a2a", a2a, name="demo-a2a"),
    path("a2a/.well-known/agent-card.json", card, name="demo-a2a-card"),
    path("agent-api", agent_api.agent_api, name="demo-agent-api"),
    path("v1/chat/completions", chat_completions.chat_completions, name="demo-chat-completions"),
    path("scenarios/", views.page, name="demo-scenarios"),
    path("scenarios/<slug:slug>/ask", views.scenario, {"operation": "ask"}, name="demo-scenario"),
    path("scenarios/<slug:slug>/await", views.scenario, {"operation": "await"}),
    path("replies/<slug:kind>", actions.response, name="demo-action-response"),
    # The same without a slash; then any other path, in the form of its protocol.
    path("cookbook", lists.saved_list, {"name": "cookbook"}),
    path("cart", lists.saved_list, {"name": "cart"}),
    path("scenarios", views.page),
    re_path(r"^(?P<path>(?:mcp|a2a)/.*)$", jsonrpc.not_found),
    re_path(r"^(?P<path>agent-api/.*)$", agent_api.not_found),
    re_path(r"^(?P<path>v1/.*)$", chat_completions.not_found),
    path("<path:path>", views.not_found),
]
