"""URLs of the demo at the root of the site: the agent card, where A2A clients look first."""

from __future__ import annotations

from django.urls import path

from playground.demo.a2a.views import card

urlpatterns = [path(".well-known/agent-card.json", card, name="demo-agent-card")]
