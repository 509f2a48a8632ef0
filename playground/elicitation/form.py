"""Elicitation form: an agent's questions as fields, constraints, and the submitted answers.

Total: every question gets a field. If the control is not the one of the question's type, or a
default is ignored, the field's note tells why. Labels and options are the agent's texts
verbatim, markup included: escape them on output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from playground.elicitation.controls import CONTROLS, MAX_TEXT, RefusedError
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
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")

#: Name of the checkbox to send a partial answer.
SKIP_UNANSWERED = "partial"
#: Key of an error that belongs to no field.
FORM_ERROR_KEY = "form"


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


# Constraints on answers, as text and as a check. NLWeb's questions have none; those of MCP have, in
# a small subset of JSON Schema.


def describe_constraints(control: str, constraints: Constraints | None) -> str:
    """Return the constraints as a sentence for the user; "" if there is nothing to say."""
    if constraints is None:
        return ""
    describe = {"number": _number, "checkboxes": _count, "text": _text}.get(control)
    sentence = describe(constraints) if describe else ""
    if constraints.required:
        return f"{sentence}." if sentence else ""
    return f"{sentence}; optional." if sentence else "Optional."


def constraint_error(constraints: Constraints | None, value: Any) -> str | None:
    """Return why an answer violates the constraints, as a sentence; None if it does not."""
    if constraints is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if constraints.integer and not float(value).is_integer():
            return "Enter a whole number."
        wanted = _number(constraints)
        sentence = f"Enter {wanted[:1].lower()}{wanted[1:]}."
        return None if _is_within(constraints, value) else sentence
    if isinstance(value, list):
        wanted = _between(constraints.minimum, constraints.maximum, "option", "options")
        return None if _is_within(constraints, len(value)) else f"Choose {wanted}."
    return _text_error(constraints, value) if isinstance(value, str) else None


def _text_error(constraints: Constraints, value: str) -> str | None:
    shortest, longest = constraints.min_length or 0, constraints.max_length
    if len(value) < shortest or (longest is not None and len(value) > longest):
        return f"Enter {_between(constraints.min_length, longest, 'character', 'characters')}."
    known = _FORMATS.get(constraints.format)
    return f"Enter {known[0]}." if known and not known[1](value.strip()) else None


def _is_within(constraints: Constraints, value: float) -> bool:
    if constraints.minimum is not None and value < constraints.minimum:
        return False
    return constraints.maximum is None or value <= constraints.maximum


def _number(constraints: Constraints) -> str:
    kind = "A whole number" if constraints.integer else "A number"
    limits = _range(constraints.minimum, constraints.maximum)
    return f"{kind} {limits}" if limits else kind if constraints.integer else ""


def _count(constraints: Constraints) -> str:
    if constraints.minimum is None and constraints.maximum is None:
        return ""
    return _between(constraints.minimum, constraints.maximum, "option", "options").capitalize()


def _text(constraints: Constraints) -> str:
    known = _FORMATS.get(constraints.format)
    sentence = [known[0]] if known else []
    if constraints.min_length or constraints.max_length is not None:
        sentence.append(
            _between(constraints.min_length, constraints.max_length, "character", "characters")
        )
    text = " of ".join(sentence)
    return text[:1].upper() + text[1:]


def _range(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"from {least:g} to {most:g}"
    if least is not None:
        return f"of at least {least:g}"
    return "" if most is None else f"of at most {most:g}"


def _between(least: float | None, most: float | None, one: str, many: str) -> str:
    if least and most is not None:
        return f"{least:g} to {most:g} {many}" if least != most else _with_unit(least, one, many)
    if least:
        return f"at least {_with_unit(least, one, many)}"
    return f"at most {_with_unit(most or 0, one, many)}"


def _with_unit(number: float, one: str, many: str) -> str:
    return f"{number:g} {one if number == 1 else many}"


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path)) and " " not in text


def _is_parsed_by(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return fits


#: (name with its article, function that checks a text) by the formats of MCP.
_FORMATS: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "email": ("an email address", lambda text: bool(_EMAIL.fullmatch(text))),
    "uri": ("a URL such as https://example.com/", _is_uri),
    "date": ("a date such as 2026-11-21", _is_parsed_by(date.fromisoformat)),
    "date-time": (
        "a date and time such as 2026-11-21T18:30:00Z",
        _is_parsed_by(datetime.fromisoformat),
    ),
}


# Validation of submitted answers (0.55 section 4.1.3). Every question requires an answer, except
# free text, which may stay empty and is then left out; with `SKIP_UNANSWERED` in the data, no
# question does. A question with constraints decides itself whether it requires an answer and which.


@dataclass(frozen=True, slots=True)
class Answers:
    """Values by question id; errors, as sentences, by `QuestionField.name` or `FORM_ERROR_KEY`."""

    values: dict[str, Any]
    errors: dict[str, str]


def read_answers(form: ElicitationForm, data: Mapping[str, Sequence[str]]) -> Answers:
    """Return the answers in submitted data: names of controls with their values, all strings.

    A value is a string, a list of strings, an int or float, or a bool, by the field's control.
    Names of other forms are ignored; with errors, `values` holds the valid answers.
    """
    partial = any(data.get(SKIP_UNANSWERED, ()))
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for field in form.fields:
        given = [text for text in data.get(field.name, ()) if text.strip()]
        try:
            if given:
                value = CONTROLS[field.control].read(field.options, given)
                if message := constraint_error(field.constraints, value):
                    raise RefusedError(message)
                values[field.id] = value
            elif field.is_required and not partial:
                errors[field.name] = CONTROLS[field.control].missing
        except RefusedError as refusal:
            errors[field.name] = str(refusal)
    # If the binding defines how to answer, an answer without values is valid.
    if not values and not errors and form.resume is None:
        errors[FORM_ERROR_KEY] = "Answer at least one question."
    return Answers(values, errors)


def to_data(form: ElicitationForm, values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return answers by question id as data for `read_answers`.

    For answers from a file, and to fill in a form again. Any JSON value is accepted: it is
    validated by `read_answers`.
    """
    return {
        field.name: [_as_text(value) for value in _listed(values[field.id])]
        for field in form.fields
        if field.id in values
    }


def with_labels(form: ElicitationForm, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return answers by question id, with the labels of the chosen options for their values."""
    labels = {
        field.id: dict(zip(field.options, field.labels, strict=False)) for field in form.fields
    }

    def labelled(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [labelled(name, each) for each in value]
        return labels.get(name, {}).get(value, value) if isinstance(value, str) else value

    return {name: labelled(name, value) for name, value in values.items()}


def _listed(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
