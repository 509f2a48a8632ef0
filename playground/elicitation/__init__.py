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

from playground.elicitation.answers import (
    FORM_ERROR_KEY,
    SKIP_UNANSWERED,
    Answers,
    read_answers,
    to_data,
)
from playground.elicitation.form import ElicitationForm, QuestionField, build_form
from playground.elicitation.strategies import STRATEGIES, Strategy, next_request
from playground.elicitation.template import TemplateError, default_template

__all__ = [
    "FORM_ERROR_KEY",
    "SKIP_UNANSWERED",
    "STRATEGIES",
    "Answers",
    "ElicitationForm",
    "QuestionField",
    "Strategy",
    "TemplateError",
    "build_form",
    "default_template",
    "next_request",
    "read_answers",
    "to_data",
]
