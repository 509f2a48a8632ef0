"""Elicitation: an agent's questions as a form, and the answers as the next request.

Pure. A package of its own because NLWeb defines how an agent asks and not how a client answers
(0.55 section 4.1.3): answer strategies are the playground's choice, not the protocol's.
"""

from playground.elicitation.answers import (
    FORM_ERROR_KEY,
    SKIP_UNANSWERED,
    Answers,
    read_answers,
    to_data,
    with_labels,
)
from playground.elicitation.form import ElicitationForm, QuestionField, build_form
from playground.elicitation.strategies import STRATEGIES, Strategy, next_request, omissions
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
    "omissions",
    "read_answers",
    "to_data",
    "with_labels",
]
