"""The shipped fixtures, and the demo agent's address, which depends on where we serve."""

from __future__ import annotations

from django.conf import settings
from django.core.management import call_command

from playground.models import Agent

DEMO = "demo"


def load_samples(address: str) -> None:
    """Load the shipped fixtures; `address` is where this playground answers (an origin).

    The demo agent is added when it is missing and follows the address; whatever else its
    owner changed about it stays.
    """
    if not settings.DEMO_ENABLED:
        return
    if not Agent.objects.filter(owner=None, slug=DEMO).exists():
        call_command("loaddata", "agents", verbosity=0)
    url = f"{address.rstrip('/')}/demo"
    Agent.objects.filter(owner=None, slug=DEMO).exclude(url=url).update(url=url)
    call_command("loaddata", "demo_corpus", verbosity=0)
