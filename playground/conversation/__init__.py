"""Runs as a conversation: entries, questions, promises, actions, messages, live updates."""
