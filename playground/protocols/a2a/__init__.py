"""A2A 0.3 and 1.0: agents that are described by a card and work on tasks, over JSON-RPC."""
