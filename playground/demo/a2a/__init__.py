"""The demo agent for other agents: A2A 0.3 and 1.0, with a card and three skills."""
