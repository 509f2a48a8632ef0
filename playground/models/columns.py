"""Columns: JSON as text, encrypted values, slugs made from names, and problems.

PostgreSQL's `jsonb` and text refuse U+0000, and no database accepts half a surrogate pair; an
agent, or a user who tests one, may send either. As JSON in ASCII both are stored unchanged.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.text import slugify

from playground.protocols import registry
from playground.protocols.origins import DEFAULT_PORTS, origin_of
from playground.variables.names import names_in

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class AsPlain:
    """A field that migrations take for one of Django: in the database it is no other."""

    plain = "TextField"

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()  # type: ignore[misc]
        return name, f"django.db.models.{self.plain}", args, kwargs


class Malformed:
    """A stored value of another shape than its column's; reads as an empty object or array."""

    #: Its text.
    stored: str


class MalformedObject(Malformed, dict[str, Any]):
    """The value of a column for objects."""


class MalformedArray(Malformed, list[Any]):
    """The value of a column for arrays."""


class Shape(NamedTuple):
    """A shape that JSON values have."""

    label: str
    matches: Callable[[Any], bool]
    malformed: Callable[[], Any] = MalformedObject


def _is_array_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(each, kind) for each in value)


_is_texts = _is_array_of(str)
ANY = Shape("a JSON value", lambda value: True)
OBJECT = Shape("an object", lambda value: isinstance(value, dict))
NAMED_TEXTS = Shape(
    "an object of strings",
    lambda value: isinstance(value, dict) and _is_texts([*value.values()]),
)
OBJECTS = Shape("an array of objects", _is_array_of(dict), MalformedArray)
TEXTS = Shape("an array of strings", _is_texts, MalformedArray)
PAIRS = Shape(
    "an array of pairs of strings, [name, value]",
    lambda value: (
        isinstance(value, list) and all(_is_texts(each) and len(each) == 2 for each in value)
    ),
    MalformedArray,
)


class ShapedField(AsPlain, models.TextField):  # type: ignore[type-arg]
    """A text column for JSON values of one shape.

    `loaddata` and forms refuse other values. One that was stored in another way reads as a
    `Malformed` value, so that no page fails, and is written back unchanged.
    """

    # For the type checker: what is assigned and read is any JSON value.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any
    #: `clean` must check malformed values, too, which are empty.
    empty_values = (None, "")

    def __init__(self, *args: Any, shape: Shape = ANY, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shape = shape

    def to_python(self, value: Any) -> Any:
        """Return the value itself; Django calls this when it reads a fixture."""
        if isinstance(value, Malformed) or not (value is None or self.shape.matches(value)):
            raise ValidationError(f"Must be {self.shape.label}.")
        return value

    def decoded(self, text: str) -> Any:
        """Return the value of a stored text, or an empty one if it has another shape."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = ...
        if value is not ... and ((value is None and self.null) or self.shape.matches(value)):
            return value
        found = self.shape.malformed()
        found.stored = text
        return found


def text_bytes(row: models.Model) -> int:
    """Return the bytes, as stored, of a row's text columns that have no maximum length."""
    values = vars(row)  # Without the columns that were not read.
    fields = [each for each in row._meta.concrete_fields if isinstance(each, models.TextField)]
    texts = (each.get_prep_value(values.get(each.attname)) for each in fields)
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts if text)


class JSONTextField(ShapedField):
    """Any JSON value, stored as ASCII text. Not for lookups in the database."""

    def get_prep_value(self, value: Any) -> Any:
        """Return the JSON text; None stays NULL."""
        if isinstance(value, Malformed):
            return value.stored
        return None if value is None else json.dumps(value)

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        return None if value is None else self.decoded(value)

    def value_to_string(self, obj: models.Model) -> Any:
        """Return the value itself, so that fixtures hold no JSON in text."""
        return self.value_from_object(obj)


def storable(text: str) -> str:
    """Return `text` with every character that a text column refuses replaced by U+FFFD."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


# Encrypted columns

# cryptography is imported where it is used: that takes 20 ms, and many commands need no secret.


@cache
def _cipher(key: str) -> Fernet:
    from cryptography.fernet import Fernet

    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))


class EncryptedTextField(AsPlain, models.TextField):  # type: ignore[type-arg]
    """Text that is stored encrypted (Fernet, key from the settings).

    A value that cannot be decrypted, because the key has changed, reads as "": the user enters it
    again, and no page fails. Fixtures are written without it.
    """

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt; the empty string stays empty, so that SQL can test for it."""
        return _encrypt(str(value)) if value else ""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str:
        """Decrypt; unreadable values read as the empty string."""
        return _decrypt(value) if value else ""

    def value_to_string(self, obj: models.Model) -> str:
        """Return "": an encrypted value must not be written to a fixture."""
        return ""


class EncryptedJSONField(ShapedField):
    """JSON that is stored encrypted, keys and values alike.

    A value that cannot be decrypted, because the key has changed, reads as the default. Fixtures
    are written with the default; a loaded fixture may have plain JSON.
    """

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt the JSON text; an empty value stays empty, so that SQL can test for it."""
        if isinstance(value, Malformed):
            return _encrypt(value.stored)
        return _encrypt(json.dumps(value)) if value else ""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        """Decrypt; empty and unreadable values read as the default."""
        text = _decrypt(value) if value else ""
        return self.decoded(text) if text else self.get_default()

    def value_to_string(self, obj: models.Model) -> Any:
        """Return the default: an encrypted value must not be written to a fixture."""
        return self.get_default()


def reencrypt(token: str, key: str, *others: str) -> str | None:
    """Return a stored value encrypted with `key`; None where no key can decrypt it."""
    from cryptography.fernet import InvalidToken, MultiFernet

    try:
        return MultiFernet([_cipher(each) for each in (key, *others)]).rotate(token).decode()
    except (InvalidToken, ValueError):
        return None


def _encrypt(text: str) -> str:
    return _cipher(settings.PLAYGROUND_KEY).encrypt(text.encode()).decode()


def _decrypt(text: str) -> str:
    from cryptography.fernet import InvalidToken, MultiFernet

    # While a key is rotated, some values are encrypted with the other one.
    keys = (settings.PLAYGROUND_KEY, *settings.PLAYGROUND_OTHER_KEYS)
    try:
        return MultiFernet([_cipher(key) for key in keys]).decrypt(text.encode()).decode()
    except InvalidToken:
        return ""


# Slugs, also of rows that `loaddata` writes, and their constraint

#: What a slug or a token in a URL consists of.
IN_URL = r"\A[-a-zA-Z0-9_]+\Z"
#: The names that a protocol may have.
PROTOCOL_NAME = r"\A[a-z0-9-]{1,20}\Z"


class NameSlugField(AsPlain, models.SlugField):  # type: ignore[type-arg]
    """A slug that a row without one gets from its name when it is saved.

    Not in `save()`, which `loaddata` does not call. `within` is the foreign key of the rows among
    which it is unique; `prepare` changes the name before.
    """

    plain = "SlugField"

    def __init__(
        self,
        *args: Any,
        within: str = "",
        fallback: str = "",
        reserved: frozenset[str] = frozenset(),
        prepare: Callable[[str], str] = str,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._within, self._fallback, self._reserved = within, fallback, reserved
        self._prepare = prepare

    def contribute_to_class(self, cls: Any, name: str, private_only: bool = False) -> None:
        """Make the slug before each row of the model is saved."""
        super().contribute_to_class(cls, name, private_only)
        models.signals.pre_save.connect(self._fill, sender=cls)

    def _fill(self, sender: Any, instance: Any, using: str, **_: Any) -> None:
        if not instance.slug:
            siblings = {self._within: getattr(instance, f"{self._within}_id")}
            others = sender._default_manager.using(using).filter(**siblings).exclude(pk=instance.pk)
            name = self._prepare(str(instance.name or ""))
            instance.slug = free_slug(name, self._fallback, others, self._reserved)


class ProtocolField(AsPlain, models.CharField):  # type: ignore[type-arg]
    """The name of a protocol of the registry. In the database it is any name.

    So a new protocol needs no migration. `loaddata`, which validates nothing, refuses others.
    """

    plain = "CharField"

    def __init__(self, **kwargs: Any) -> None:
        own = {"max_length": 20, "choices": registry.choices, "default": registry.DEFAULT}
        super().__init__(**{**own, **kwargs})

    def deconstruct(self) -> Any:
        """Return it without its choices, which migrations must not know."""
        name, path, args, kwargs = super().deconstruct()
        del kwargs["choices"]
        return name, path, args, kwargs

    def contribute_to_class(self, cls: Any, name: str, private_only: bool = False) -> None:
        super().contribute_to_class(cls, name, private_only)
        models.signals.pre_save.connect(self._check, sender=cls)

    def _check(self, instance: Any, raw: bool, **_: Any) -> None:
        if raw:
            registry.of(self.value_from_object(instance))


def free_slug(
    name: str, fallback: str, others: models.QuerySet[Any], reserved: frozenset[str] = frozenset()
) -> str:
    """Return a slug made from `name` that is not reserved and that none of `others` has."""
    longest = others.model._meta.get_field("slug").max_length - 20
    base = slugify(name)[:longest].strip("-") or fallback
    # One query, however many have the same name: an import needs thousands of slugs.
    taken = set(others.filter(slug__startswith=base).values_list("slug", flat=True)) | reserved
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def valid_columns(
    model: str,
    reserved: frozenset[str] = frozenset(),
    names: Iterable[str] = (),
    **choices: Iterable[str],
) -> list[models.CheckConstraint]:
    """Return constraints of a model: its slug is one of its URLs, other columns are choices.

    Columns of `names` have names of any protocol.

    `loaddata` writes a fixture without any other validation.
    """
    slug = models.Q(slug__regex=IN_URL)
    if reserved:
        slug &= ~models.Q(slug__in=sorted(reserved))
    conditions = {"slug": slug} | {
        name: models.Q(**{f"{name}__regex": PROTOCOL_NAME}) for name in names
    }
    conditions |= {name: models.Q(**{f"{name}__in": [*known]}) for name, known in choices.items()}
    return [
        models.CheckConstraint(condition=condition, name=f"{model}_{name}_valid")
        for name, condition in conditions.items()
    ]


# Problems of stored rows, which forms and imports refuse and `loaddata` does not


def row_problems(row: models.Model) -> list[str]:
    """Return the problems of a row's columns, as far as they are loaded."""
    deferred = row.get_deferred_fields()
    skipped = deferred | {each.name for each in row._meta.fields if each.is_relation}
    try:
        row.clean_fields(exclude=skipped)
    except ValidationError as error:
        return [f"{name}: {' '.join(found)}" for name, found in error.message_dict.items()]
    problems = {name: check(row) for name, check in _CHECKS.items() if name in row.__dict__}
    return [f"{name}: {problem}" for name, problem in problems.items() if problem]


def _url_problem(url: str) -> str:
    # A placeholder, or a path at the agent's origin, is a URL only when it is sent.
    if not url or url.startswith("/") or names_in(url):
        return ""
    is_url = origin_of(url).partition(":")[0] in DEFAULT_PORTS
    return "" if is_url else "Must be an HTTP or HTTPS URL."


def _version_problem(row: Any) -> str:
    known = [version.name for version in registry.of(row.protocol).versions]
    return "" if row.version in known else f"Must be one of {', '.join(known)}."


def _lesson_problem(row: Any) -> str:
    # Imported here, because few rows have a lesson, and expectations import several libraries.
    from playground.lesson_format.lesson import lesson_problems

    return next((" ".join(found) for found in lesson_problems(row.lesson)), "")


#: Checks beyond those of the columns themselves, by column.
_CHECKS: Mapping[str, Callable[[Any], str]] = {
    "url": lambda row: _url_problem(row.url),
    "address": lambda row: _url_problem(row.address),
    "version": _version_problem,
    "lesson": _lesson_problem,
}
