"""An agent's questions as the fields of a form.

Total: whatever the agent asks, there is a field to answer it in. Where the control is not what
the question's type calls for, or a default is not taken, the field's note says why. Labels and
options are the agent's words as they came, markup included: text, to be escaped where shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.elicitation.constraints import describe_constraints
from playground.protocols.events import Constraints, Elicitation, Question
from playground.protocols.text import shorten

MAX_FIELDS = 200
MAX_OPTIONS = 200
#: Characters of a text that are shown, and that an option may have.
MAX_TEXT = 20_000
#: Characters of a label that are searched for words that ask for a secret.
MAX_LABEL = 2_000

#: Control by type of question (NLWeb 0.55 section 4.1.3).
_CONTROLS: Mapping[str, str] = {
    "single_select": "radio",
    "multi_select": "checkboxes",
    "free_text": "text",
    "number": "number",
    "boolean": "boolean",
}
_SELECTS = frozenset({"radio", "checkboxes"})

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET = re.compile(
    r"\b(?:pass ?words?|pass ?codes?|pass ?phrases?|pwd|pin(?: ?(?:code|number))?s?|secrets?"
    r"|(?:access|auth|id)?tokens?|(?:api|access|secret|private) ?keys?"
    r"|(?:credit|debit) ?cards?|card ?numbers?|cv[vc]2?|security codes?|social security|ssn)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QuestionField:
    """One question, as something that can be filled in."""

    #: Position in the form, from 0.
    number: int
    #: What the answer is keyed by; unique in the form.
    id: str
    #: The label; never empty.
    text: str
    #: `radio`, `checkboxes`, `text`, `number` or `boolean`.
    control: str
    #: What can be chosen; with the control `text`, suggestions.
    options: tuple[str, ...] = ()
    #: The agent's default where it fits: one option, a tuple of options, a text, a finite
    #: number, True or False. None where there is none.
    default: Any = None
    #: Why the field is not quite what the agent asked for, in sentences; mostly empty.
    note: str = ""
    #: Whether it looks like a question for a password or another secret.
    sensitive: bool = False
    #: What the options are called, one for each.
    labels: tuple[str, ...] = ()
    #: What the agent says about the question beside its text; may be empty.
    hint: str = ""
    #: What the answer has to be; None where the protocol knows no such thing.
    bounds: Constraints | None = None

    @property
    def rule(self) -> str:
        """What the answer has to be, as a sentence; mostly empty."""
        return describe_constraints(self.control, self.bounds)

    @property
    def is_required(self) -> bool:
        """Whether there has to be an answer: of NLWeb's questions only free text needs none."""
        return self.control != "text" if self.bounds is None else self.bounds.required

    @property
    def name(self) -> str:
        """The name of its controls in a submitted form."""
        return f"q{self.number}"


@dataclass(frozen=True, slots=True)
class ElicitationForm:
    """An elicitation, as a form."""

    #: What the agent says above its questions; may be empty.
    text: str
    fields: tuple[QuestionField, ...]
    #: How many questions were left out, because they are too many.
    remaining: int = 0
    #: Whether the agent asked in words alone, so that the one field is a free answer to them.
    text_only: bool = False
    #: What was done to the text, as a sentence; mostly empty.
    note: str = ""
    #: How an answer travels where the binding says so: see `Elicitation.reply`.
    resume: Mapping[str, Any] | None = None
    #: Addresses that the agent sends its user to, as they came.
    links: tuple[str, ...] = ()


def build_form(elicitation: Elicitation) -> ElicitationForm:
    """The form for an elicitation. One in words alone (0.54) gets one field, `answer`."""
    text, note = _shortened(elicitation.text, "text")
    questions, reply, links = elicitation.questions, elicitation.resume, elicitation.links
    if not questions and reply is None:
        sensitive = _is_sensitive(elicitation.text)
        field = QuestionField(0, "answer", "Your answer", "text", sensitive=sensitive)
        return ElicitationForm(text, (field,), text_only=True, note=note)
    shown = questions[:MAX_FIELDS]
    fields: list[QuestionField] = []
    for number, (question, name) in enumerate(zip(shown, _names(shown), strict=True)):
        fields.append(_field(number, question, name))
    rest = len(questions) - len(shown)
    return ElicitationForm(
        text, tuple(fields), rest, note=note, resume=reply, links=links[:MAX_OPTIONS]
    )


def _names(questions: Collection[Question]) -> Iterator[str]:
    """A name of its own for each question: its id, or the id with a number."""
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
        notes.append("The agent uses this id twice, so this answer gets a name of its own.")
    text, shortened = _shortened(question.text.strip(), "question")
    if not text:
        text, shortened = _shortened(name.strip(), "question")
        notes.append("The agent gave this question no text, so its id stands here.")
        text = text or f"Question {number + 1}"
    options, left_out = _options(question.options)
    hint, cut = _shortened(question.hint.strip(), "explanation")
    control, instead = _control(question.type, options)
    default, unused = _default(question.default, control, options)
    notes += filter(None, (shortened, cut, left_out, instead, unused))
    options = () if control in ("number", "boolean") else options
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
        bounds=question.constraints,
    )


def _labels(question: Question, options: tuple[str, ...]) -> tuple[str, ...]:
    """What each option is called: itself, where the agent gives it no name."""
    named = dict(zip(question.options, question.labels, strict=False))
    return tuple(named.get(option, "").strip()[:MAX_TEXT] or option for option in options)


def _shortened(text: str, what: str) -> tuple[str, str]:
    if len(text) <= MAX_TEXT:
        return text, ""
    return text[:MAX_TEXT] + "…", f"The {what} was cut after {MAX_TEXT:,} characters."


def _options(given: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """What can be chosen, each once, and what was left out.

    A blank option is none: choosing it looks the same as choosing nothing.
    """
    different = dict.fromkeys(option for option in given if option.strip())
    short = [option for option in different if len(option) <= MAX_TEXT]
    kept = tuple(short[:MAX_OPTIONS])
    if not (lost := len(different) - len(kept)):
        return kept, ""
    limits = f"{MAX_OPTIONS} options of at most {MAX_TEXT:,} characters can be shown"
    return kept, f"{limits}; {lost} more {'was' if lost == 1 else 'were'} left out."


def _control(kind: str, options: tuple[str, ...]) -> tuple[str, str]:
    """The control for a type of question, and why it is not that of the type."""
    control = _CONTROLS.get(kind.strip().lower().replace("-", "_"))
    if control is None:
        shown = shorten(kind, 61)
        return "text", f"NLWeb defines no question type “{shown}”, so this is a free answer."
    if control in _SELECTS and not options:
        return "text", "The agent gave nothing to choose from, so this is a free answer."
    return control, ""


def _default(value: Any, control: str, options: tuple[str, ...]) -> tuple[Any, str]:
    """The default as the control takes it, or None and why it does not."""
    if value is None:
        return None, ""
    default = _DEFAULTS[control](value, options)
    if default is not None:
        return default, ""
    return None, f"The agent's default is not used, because it is not {_WANTED[control]}."


def _one_of(value: Any, options: tuple[str, ...]) -> str | None:
    text = _text(value, options)
    return text if text in options else None


def _some_of(value: Any, options: tuple[str, ...]) -> tuple[str, ...] | None:
    values = value if isinstance(value, list | tuple) else [value]
    chosen = [_text(one, options) for one in values]
    if not all(text in options for text in chosen):
        return None
    return tuple(option for option in options if option in chosen)


def _text(value: Any, _options: tuple[str, ...]) -> str | None:
    """A string, or the number that the reader has made an option of."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else None
    return str(value) if type(value) in (int, float) else None


def _number(value: Any, _options: tuple[str, ...]) -> int | float | None:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if type(value) is int else None


def _boolean(value: Any, _options: tuple[str, ...]) -> bool | None:
    return value if isinstance(value, bool) else None


_DEFAULTS: Mapping[str, Callable[[Any, tuple[str, ...]], Any]] = {
    "radio": _one_of,
    "checkboxes": _some_of,
    "text": _text,
    "number": _number,
    "boolean": _boolean,
}
_WANTED: Mapping[str, str] = {
    "radio": "one of the options",
    "checkboxes": "a list of options",
    "text": f"a text of at most {MAX_TEXT:,} characters",
    "number": "a number",
    "boolean": "true or false",
}


def _is_sensitive(text: str) -> bool:
    """Whether a label, an id or a type looks like it asks for a secret."""
    words = _CAMEL.sub(" ", text[:MAX_LABEL]).replace("_", " ").replace("-", " ")
    return _SECRET.search(words) is not None
