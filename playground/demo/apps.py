"""App configuration of the demo, installed where the demo is enabled."""

from __future__ import annotations

from django.apps import AppConfig


class DemoConfig(AppConfig):
    """The demo agent and its corpus."""

    name = "playground.demo"
    label = "demo"
    verbose_name = "Demo agent"
