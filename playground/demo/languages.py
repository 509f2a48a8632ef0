"""Languages of the texts that the agent writes itself: English and German.

`prefer.accept-language` chooses between them (section 3.3), in the grammar of Accept-Language
(RFC 9110, section 12.5.4). The corpus is English, which a response in German says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ITEM = re.compile(
    r"(\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)"
    r"(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?",
    re.I | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Language:
    """The language of a response."""

    #: en or de.
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
        elif self.code != "en":
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
    best = max(("en", "de"), key=lambda code: _weight(weights, code))
    return Language(best, is_requested=True, is_accepted=_weight(weights, best)[0] > 0)


def _weight(weights: Mapping[str, float], code: str) -> tuple[float, bool]:
    """Return the weight of a language, and whether it is named: names win over `*`."""
    return weights.get(code, weights.get("*", 0.0)), code in weights


def say(language: Language, template: str, **values: object) -> str:
    """Return a text in a language, with `values` in its braces; in English if not translated."""
    found = GERMAN.get(template, template) if language.code == "de" else template
    return found.format(**values) if values else found


#: English texts of the agent, with their translations.
GERMAN: Mapping[str, str] = {
    "Results, actions and error details are English.":
        "Ergebnisse, Aktionen und Einzelheiten von Fehlern sind auf Englisch.",
    # Failures
    "No results match this query.": "Keine Ergebnisse zu dieser Anfrage.",
    "The query is invalid.": "Die Anfrage ist ungültig.",
    "This response format is not supported.": "Dieses Antwortformat wird nicht unterstützt.",
    "This mode is not supported.": "Dieser Modus wird nicht unterstützt.",
    "Too many requests; try again in 5 seconds.":
        "Zu viele Anfragen; in 5 Sekunden noch einmal versuchen.",
    "Internal agent error.": "Interner Fehler des Agenten.",
    "The agent timed out before the answer was complete.":
        "Die Zeit war um, bevor die Antwort vollständig war.",
    "The request exceeds the token limit of this agent.":
        "Die Anfrage überschreitet die Token-Grenze dieses Agenten.",
    "A parameter has an invalid value.": "Ein Parameter hat einen ungültigen Wert.",
    "The task was cancelled.": "Die Aufgabe wurde abgebrochen.",
    "No results match “{query}”.": "Keine Ergebnisse zu „{query}“.",
    "Unknown site: {site}. Sites: {sites}.": "Unbekannte Site: {site}. Sites: {sites}.",
    "query.text has no words.": "query.text enthält keine Wörter.",
    "The meal plan could not be completed.": "Der Essensplan konnte nicht fertiggestellt werden.",
    "No {meal} matches that diet.": "Kein Rezept für {meal} passt zu dieser Ernährung.",
    "No {course} matches that diet and time.":
        "Kein Rezept für {course} passt zu Ernährung und Zeit.",
    "The question was not answered; no search was performed.":
        "Die Frage wurde nicht beantwortet; es wurde nicht gesucht.",
    # Summaries
    "{names} and {last}": "{names} und {last}",
    "{count} results match “{query}”: {names}.": "{count} Ergebnisse zu „{query}“: {names}.",
    "{count} results match “{query}”: {names} are the best matches.":
        "{count} Ergebnisse zu „{query}“: {names} passen am besten.",
    "One result matches “{query}”: {names}.": "Ein Ergebnis zu „{query}“: {names}.",
    "The quickest is {name}, ready in {time}.": "Am schnellsten geht {name}: {time}.",
    "{name} is rated highest, with {rating} out of 5.":
        "{name} ist am besten bewertet: {rating} von 5.",
    "Results for “{query}”:": "Ergebnisse zu „{query}“:",
    "Ready in {time}.": "Fertig in: {time}.",
    "Here is {names}.": "Gefunden: {names}.",
    "1 hour": "1 Stunde",
    "{count} hours": "{count} Stunden",
    "1 minute": "1 Minute",
    "{count} minutes": "{count} Minuten",
    # Menus and meal plans
    "A menu for {guests} guests: {names}.": "Ein Menü für {guests} Gäste: {names}.",
    "It is mild enough for children.": "Es ist mild genug für Kinder.",
    "For the {occasion}. {menu}": "Anlass: {occasion}. {menu}",
    "For the {occasion} of {whom}. {menu}": "Anlass: {occasion} ({whom}). {menu}",
    "Your meal plan for the week of {date}": "Ihr Essensplan für die Woche ab {date}",
    "Three meals a day, chosen from this agent's recipes.":
        "Drei Mahlzeiten am Tag aus den Rezepten dieses Agenten.",
    "Shopping list for the week of {date}": "Einkaufsliste für die Woche ab {date}",
    "All ingredients of the meal plan, by category.":
        "Alle Zutaten des Essensplans, nach Kategorien.",
    "Checking your preferences…": "Prüfe die Vorlieben…",
    "Choosing breakfasts, lunches and dinners…": "Wähle Frühstücke, Mittag- und Abendessen…",
    "Balancing the week…": "Gleiche die Woche aus…",
    "Writing the shopping list…": "Schreibe die Einkaufsliste…",
    "Retrying: a recipe is missing…": "Neuer Versuch: Ein Rezept fehlt…",
    # Lists
    "The demo cart": "Der Einkaufswagen der Demo",
    "The demo cookbook": "Das Kochbuch der Demo",
    "1 entry, shared by all users of this playground.":
        "1 Eintrag, geteilt von allen, die diesen Playground benutzen.",
    "{count} entries, shared by all users of this playground.":
        "{count} Einträge, geteilt von allen, die diesen Playground benutzen.",
    # Elicitations
    "Do you have any dietary restrictions?": "Müssen wir auf eine Ernährungsweise achten?",
    "How much time do you have for cooking?": "Wie viel Zeit ist zum Kochen?",
    "What type of sauce do you prefer?": "Welche Soße soll es sein?",
    "What type of protein would you like?": "Welche Proteinquelle soll es sein?",
    "How many guests do you expect?": "Wie viele Gäste werden erwartet?",
    "Which courses would you like?": "Welche Gänge sollen es sein?",
    "Will there be children at the table?": "Sind Kinder dabei?",
    "Anything you would love to serve?": "Gibt es etwas, das unbedingt auf den Tisch soll?",
    "What is the occasion?": "Was ist der Anlass?",
    "Happy to help you find a dinner! A few questions first:":
        "Gern helfe ich, ein Abendessen zu finden! Zuerst ein paar Fragen:",
    "There are many pasta recipes here. Which kind would you like?":
        "Hier gibt es viele Nudelgerichte. Welche Art soll es sein?",
    "There are many pasta recipes here. Tell me more about what you would like: Which"
    " sauce: tomato, cream, pesto, or just oil? Any dietary restrictions? And how much time do"
    " you have for cooking?":
        "Hier gibt es viele Nudelgerichte. Was darf es sein: Welche Soße: Tomate, Sahne, Pesto"
        " oder nur Öl? Müssen wir auf eine Ernährungsweise achten? Und wie viel Zeit ist da?",
    "A dinner party! Tell me about it and I will put a menu together.":
        "Eine Einladung! Erzählen Sie mir davon, dann stelle ich ein Menü zusammen.",
    "How long can each dish take?": "Wie lange darf jedes Gericht dauern?",
    "Gladly. The menu depends on the occasion.": "Gern. Das Menü hängt vom Anlass ab.",
    "A weeknight supper: it should be quick.": "Ein Essen unter der Woche: Es soll schnell gehen.",
    "A picnic: everything has to travel well.": "Ein Picknick: Alles muss sich gut tragen lassen.",
    "Will you carry it for more than an hour?": "Wird es mehr als eine Stunde getragen?",
    "How many people will eat?": "Wie viele Personen essen mit?",
    "A birthday: congratulations! Please tell me more about the party.":
        "Ein Geburtstag: Herzlichen Glückwunsch! Erzählen Sie mir mehr über das Fest.",
    "Which cake would you like?": "Welcher Kuchen soll es sein?",
    "Whose birthday is it?": "Wer hat Geburtstag?",
    "A surprise it is! Just two questions first:": "Eine Überraschung! Nur zwei Fragen vorher:",
    "vegetarian": "vegetarisch",
    "gluten-free": "glutenfrei",
    "dairy-free": "milchfrei",
    "none": "keine",
    "under 20 minutes": "unter 20 Minuten",
    "20-40 minutes": "20-40 Minuten",
    "40-60 minutes": "40-60 Minuten",
    "over an hour": "über eine Stunde",
    "tomato": "Tomate",
    "cream": "Sahne",
    "oil-based": "mit Öl",
    "no preference": "egal",
    "chicken": "Hähnchen",
    "beef": "Rind",
    "fish": "Fisch",
    "pork": "Schwein",
    "beans": "Bohnen",
    "starter": "Vorspeise",
    "main": "Hauptgericht",
    "side": "Beilage",
    "dessert": "Nachtisch",
    "weeknight supper": "Essen unter der Woche",
    "picnic": "Picknick",
    "birthday": "Geburtstag",
    "chocolate": "Schokolade",
    "fruit": "Obst",
    "no cake": "kein Kuchen",
    "a friend": "Freundin oder Freund",
    "yes": "ja",
    "no": "nein",
}  # fmt: skip
