"""The demo agent over the Agent API: one address, responses that grow."""
