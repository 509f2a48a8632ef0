"""The Agent API: messages to an agent, and its response as a stream of messages and contents."""
