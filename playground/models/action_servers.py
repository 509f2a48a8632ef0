"""Action servers: URLs and descriptions of the servers that actions name."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from playground.models.json_text import JSONTextField
from playground.models.ownership import OwnedQuerySet
from playground.protocols.origins import MAX_URL


class ActionServer(models.Model):
    """A server of another protocol that an action is run on, stored for its user.

    NLWeb 0.55 section 5: an MCP action names its server by an identifier, which is not a URL;
    the user enters the URL once. An A2A action names its agent by the URL of its agent card.
    """

    class Protocol(models.TextChoices):
        """The protocol of the server."""

        MCP = "mcp", "MCP"
        A2A = "a2a", "A2A"

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    protocol = models.CharField(max_length=4, choices=Protocol)
    #: Its name in actions: an identifier (MCP) or a URL (A2A).
    identifier = models.CharField(max_length=MAX_URL)
    url = models.CharField("URL", max_length=MAX_URL)
    #: The version of MCP to use, "" to find out. See `Agent.mcp_version`.
    mcp_version = models.CharField("MCP version", max_length=10, blank=True)
    #: The tools of an MCP server or the card of an A2A agent, as read last.
    description = JSONTextField(null=True, blank=True)
    described_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["protocol", "identifier"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "protocol", "identifier"], name="action_server_per_owner"
            ),
            models.UniqueConstraint(
                fields=["protocol", "identifier"],
                condition=models.Q(owner=None),
                name="action_server_unowned",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.identifier} at {self.url}"
