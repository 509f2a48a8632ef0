"""Elicitation: an agent's questions as a form, and the answers as the next request.

Pure. A package of its own because NLWeb defines how an agent asks and not how a client answers
(0.55 section 4.1.3): answer strategies are the playground's choice, not the protocol's.
"""
