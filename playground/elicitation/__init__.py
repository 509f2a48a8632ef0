"""Elicitation: an agent's questions as a form, and the answers as the next request.

Pure, and a part of its own because NLWeb says how to ask and not how to answer (0.55 section
4.1.3): what stands here is the playground's choice, not the protocol's.

============  =========================================================================
`fields`      questions, whatever the agent made of them, as fields
`bounds`      what an answer has to be, where its question says so
`answers`     what was filled in, checked, as values
`strategies`  the ways to tell the agent: the request that carries the answers
`template`    the user's own request with placeholders
============  =========================================================================
"""

from playground.elicitation.answers import PARTIAL, WHOLE_FORM, Answers, read_answers, to_data
from playground.elicitation.fields import Field, Form, form_of
from playground.elicitation.strategies import STRATEGIES, Strategy, next_request
from playground.elicitation.template import TemplateError, starter

__all__ = [
    "PARTIAL",
    "STRATEGIES",
    "WHOLE_FORM",
    "Answers",
    "Field",
    "Form",
    "Strategy",
    "TemplateError",
    "form_of",
    "next_request",
    "read_answers",
    "starter",
    "to_data",
]
