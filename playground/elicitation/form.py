"""Elicitation form: an agent's questions as fields.

Total: every question gets a field. If the control is not the one of the question's type, or a
default is ignored, the field's note tells why. Labels and options are the agent's texts
verbatim, markup included: escape them on output.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.elicitation.constraints import describe_constraints
from playground.elicitation.controls import CONTROLS, MAX_TEXT
from playground.protocols.events import Constraints, Elicitation, Question
from playground.protocols.text import shorten

MAX_FIELDS = 200
MAX_OPTIONS = 200
#: The most characters of a label that are searched for words for a secret.
MAX_LABEL = 2_000

#: Name of the control by question type.
_NAMES = {control.question_type: name for name, control in CONTROLS.items()}

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET = re.compile(
    r"\b(?:pass ?words?|pass ?codes?|pass ?phrases?|pwd|pin(?: ?(?:code|number))?s?|secrets?"
    r"|(?:access|auth|id)?tokens?|(?:api|access|secret|private) ?keys?"
    r"|(?:credit|debit) ?cards?|card ?numbers?|cv[vc]2?|security codes?|social security|ssn)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QuestionField:
    """One question as a form field."""

    #: Position in the form, from 0.
    number: int
    #: Key of the answer; unique in the form.
    id: str
    #: The label; never empty.
    text: str
    #: Key of `CONTROLS`.
    control: str
    #: The choices; with the control `text`, suggestions.
    options: tuple[str, ...] = ()
    #: The agent's default if it is valid: one option, a tuple of options, a text, a finite number,
    #: True or False. None without one.
    default: Any = None
    #: Why the field differs from the question, in sentences; mostly empty.
    note: str = ""
    #: Whether the question seems to ask for a password or another secret.
    sensitive: bool = False
    #: Labels of the options, one for each.
    labels: tuple[str, ...] = ()
    #: The agent's description of the question; may be empty.
    hint: str = ""
    #: Constraints on the answer; None if the protocol has no such thing.
    constraints: Constraints | None = None

    @property
    def rule(self) -> str:
        """Return the constraints as a sentence; mostly empty."""
        return describe_constraints(self.control, self.constraints)

    @property
    def is_required(self) -> bool:
        """Return whether an answer is required: of NLWeb's questions all except free text."""
        return self.control != "text" if self.constraints is None else self.constraints.required

    @property
    def name(self) -> str:
        """Return the name of its controls in a submitted form."""
        return f"q{self.number}"


@dataclass(frozen=True, slots=True)
class ElicitationForm:
    """An elicitation as a form."""

    #: The agent's text above its questions; may be empty.
    text: str
    fields: tuple[QuestionField, ...]
    #: The number of questions beyond the limit, which were left out.
    remaining: int = 0
    #: Whether the elicitation is a text alone, so that the one field is a free answer.
    text_only: bool = False
    #: A sentence on changes to the text; mostly empty.
    note: str = ""
    #: Data for sending the answer, if the binding defines it: see `Elicitation.resume`.
    resume: Mapping[str, Any] | None = None
    #: URLs for the user to open, as received.
    links: tuple[str, ...] = ()


def build_form(elicitation: Elicitation) -> ElicitationForm:
    """Return the form of an elicitation. A text alone (0.54) gets one field, `answer`."""
    text, note = _shortened(elicitation.text, "text")
    questions, resume, links = elicitation.questions, elicitation.resume, elicitation.links
    if not questions and resume is None:
        sensitive = _is_sensitive(elicitation.text)
        field = QuestionField(0, "answer", "Your answer", "text", sensitive=sensitive)
        return ElicitationForm(text, (field,), text_only=True, note=note)
    shown = questions[:MAX_FIELDS]
    fields: list[QuestionField] = []
    for number, (question, name) in enumerate(zip(shown, _names(shown), strict=True)):
        fields.append(_field(number, question, name))
    rest = len(questions) - len(shown)
    return ElicitationForm(
        text, tuple(fields), rest, note=note, resume=resume, links=links[:MAX_OPTIONS]
    )


def _names(questions: Collection[Question]) -> Iterator[str]:
    """Return a unique name for each question: its id, or the id with a number."""
    given = {question.id for question in questions}
    taken: set[str] = set()
    for question in questions:
        name, number = question.id, 1
        while name in taken or (number > 1 and name in given):
            number += 1
            name = f"{question.id}_{number}"
        taken.add(name)
        yield name


def _field(number: int, question: Question, name: str) -> QuestionField:
    notes: list[str] = []
    if name != question.id:
        notes.append("The agent uses this id more than once, so this answer has a different name.")
    text, shortened = _shortened(question.text.strip(), "question")
    if not text:
        text, shortened = _shortened(name.strip(), "question")
        notes.append("The question has no text, so its id is shown.")
        text = text or f"Question {number + 1}"
    options, left_out = _options(question.options)
    hint, cut = _shortened(question.hint.strip(), "explanation")
    control, instead = _control(question.type, options)
    default, unused = _default(question.default, control, options)
    notes += filter(None, (shortened, cut, left_out, instead, unused))
    options = options if CONTROLS[control].has_options else ()
    return QuestionField(
        number=number,
        id=name,
        text=text,
        control=control,
        options=options,
        default=default,
        note=" ".join(notes),
        sensitive=any(map(_is_sensitive, (question.id, question.text, question.type))),
        labels=_labels(question, options),
        hint=hint,
        constraints=question.constraints,
    )


def _labels(question: Question, options: tuple[str, ...]) -> tuple[str, ...]:
    """Return the label of each option: the option itself if the agent gives no label."""
    named = dict(zip(question.options, question.labels, strict=False))
    return tuple(named.get(option, "").strip()[:MAX_TEXT] or option for option in options)


def _shortened(text: str, what: str) -> tuple[str, str]:
    if len(text) <= MAX_TEXT:
        return text, ""
    return text[:MAX_TEXT] + "…", f"The {what} was truncated to {MAX_TEXT:,} characters."


def _options(given: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the distinct options, and a note on those that were left out.

    Blank options are left out: choosing one looks like choosing nothing.
    """
    different = dict.fromkeys(option for option in given if option.strip())
    short = [option for option in different if len(option) <= MAX_TEXT]
    options = tuple(short[:MAX_OPTIONS])
    if not (left_out := len(different) - len(options)):
        return options, ""
    limits = f"{MAX_OPTIONS} options of at most {MAX_TEXT:,} characters can be shown"
    return options, f"{limits}; {left_out} more {'was' if left_out == 1 else 'were'} omitted."


def _control(kind: str, options: tuple[str, ...]) -> tuple[str, str]:
    """Return the control for a question, and why it is not the control of its type."""
    control = _NAMES.get(kind.strip().lower().replace("-", "_"))
    if control is None:
        shown = shorten(kind, 61)
        return (
            "text",
            f"NLWeb does not define the question type “{shown}”, so a text field is shown.",
        )
    if CONTROLS[control].chooses and not options:
        return "text", "The question has no options, so a text field is shown."
    return control, ""


def _default(value: Any, control: str, options: tuple[str, ...]) -> tuple[Any, str]:
    """Return the default for the control, or None and the reason."""
    if value is None:
        return None, ""
    default = CONTROLS[control].default(value, options)
    if default is not None:
        return default, ""
    return None, f"The agent’s default is ignored, because it is not {CONTROLS[control].wanted}."


def _is_sensitive(text: str) -> bool:
    """Return whether a label, an id or a type seems to ask for a secret."""
    words = _CAMEL.sub(" ", text[:MAX_LABEL]).replace("_", " ").replace("-", " ")
    return _SECRET.search(words) is not None
