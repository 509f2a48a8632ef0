"""Rules of Chat Completions."""

from playground.conformance.chat_completions.rules import RULES, VERSION
from playground.conformance.chat_completions.transcript import ChatTranscript, read

__all__ = ["RULES", "VERSION", "ChatTranscript", "read"]
