"""The demo agent over the Agent API: one endpoint, with responses that grow."""
