"""MCP sessions: the sessions that conversations have with servers (up to 2025-11-25)."""

from __future__ import annotations

import json

from django.db import models
from django.utils.crypto import salted_hmac

from playground.models.conversations import Conversation
from playground.models.fields import EncryptedJSONField, EncryptedTextField
from playground.protocols.exchange import Target
from playground.protocols.headers import is_credential
from playground.protocols.origins import MAX_URL

#: Characters of a version that are stored.
MAX_VERSION = 40


class McpSession(models.Model):
    """A session that a server keeps until it is ended."""

    #: None once the conversation was deleted: the session is then ended.
    conversation = models.ForeignKey(
        Conversation, null=True, on_delete=models.SET_NULL, related_name="mcp_sessions"
    )
    url = models.CharField("URL", max_length=MAX_URL)
    #: Digest of URL, credentials and the version to use: see `key_of`.
    key = models.CharField(max_length=64)
    version = models.CharField(max_length=MAX_VERSION)
    #: Encrypted: it gives access to the session.
    session_id = EncryptedTextField()
    #: The headers of the call that ends it, as [[name, value], ...].
    headers = EncryptedJSONField(default=list)
    used_at = models.DateTimeField()

    class Meta:
        ordering = ["-used_at"]
        indexes = [models.Index(fields=["used_at"], name="mcp_session_used_at")]

    def __str__(self) -> str:
        return f"MCP session at {self.url}"


def key_of(target: Target) -> str:
    """Return the digest of what a session is valid for.

    A session must not be used with other credentials than those that opened it.
    """
    credentials = sorted(pair for pair in target.headers if is_credential(pair[0]))
    value = json.dumps([target.url, target.mcp_version, credentials])
    return salted_hmac("playground.mcp_session", value, algorithm="sha256").hexdigest()
