"""NLWeb Playground: compose a request to an agent, send it, watch the answer arrive."""

__version__ = "0.2.0"
