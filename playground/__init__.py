"""The NLWeb Playground: compose a request to an agent, send it, watch the answer arrive."""
