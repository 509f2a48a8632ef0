"""Chat Completions: a conversation as messages, and its next message as a stream of deltas."""
