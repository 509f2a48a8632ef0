"""Languages of the texts that the agent writes itself: English and German.

`prefer.accept-language` chooses between them (section 3.3), in the grammar of Accept-Language
(RFC 9110, section 12.5.4). The corpus is English, which a response in German says. Code has the
English texts; a translation is a file of this folder and a row of `TRANSLATIONS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_ITEM = re.compile(
    r"(\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)"
    r"(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?",
    re.I | re.ASCII,
)


#: English texts, with their translations, by the code of the language.
TRANSLATIONS: Mapping[str, Mapping[str, str]] = {
    "en": {},
    "de": json.loads(Path(__file__).with_name("german.json").read_text("utf-8")),
}


@dataclass(frozen=True, slots=True)
class Language:
    """The language of a response."""

    #: One of `TRANSLATIONS`.
    code: str = "en"
    #: True if the request names a language.
    is_requested: bool = False
    #: True if the request accepts this language.
    is_accepted: bool = True

    @property
    def meta(self) -> dict[str, str]:
        """Return the members of `_meta` that name the language and its limits."""
        if not self.is_requested:
            return {}
        members = {"content_language": self.code}
        if not self.is_accepted:
            members["language_note"] = "This agent writes English and German only."
        elif self.code != ENGLISH.code:
            members["language_note"] = say(self, "Results, actions and error details are English.")
        return members


ENGLISH = Language()


def negotiate(accepted: str) -> Language | None:
    """Return the language that fits an Accept-Language value best; None if it is malformed."""
    weights: dict[str, float] = {}
    items = [item.strip(" \t") for item in accepted.split(",")]
    # A list may have empty elements (RFC 9110, section 5.6.1).
    for item in filter(None, items):
        if not (match := _ITEM.fullmatch(item)):
            return None
        name = match[1].lower().partition("-")[0]
        weights[name] = max(weights.get(name, 0.0), float(match[2] or 1))
    if not weights:
        return None
    best = max(TRANSLATIONS, key=lambda code: _weight(weights, code))
    return Language(best, is_requested=True, is_accepted=_weight(weights, best)[0] > 0)


def _weight(weights: Mapping[str, float], code: str) -> tuple[float, bool]:
    """Return the weight of a language, and whether it is named: names win over `*`."""
    return weights.get(code, weights.get("*", 0.0)), code in weights


def say(language: Language, template: str, **values: object) -> str:
    """Return a text in a language, with `values` in its braces; in English if not translated."""
    found = TRANSLATIONS[language.code].get(template, template)
    return found.format(**values) if values else found


def wordings(text: str) -> Iterator[str]:
    """Yield a text in every language: answers may be in any."""
    return (texts.get(text, text) for texts in TRANSLATIONS.values())
