"""The `detailed` mode that the 0.54 examples show (section 5): one recipe, step by step."""

from __future__ import annotations

from playground.demo.corpus import Entry
from playground.demo.offering import Links
from playground.demo.presenting import item, spoken
from playground.demo.replying import Answer, Document, Part


def tutorial(entries: list[Entry], links: Links) -> Answer:
    """The best recipe that has steps, its steps as sections, with text in between."""
    taught = [entry for entry in entries if _steps(entry)]
    if not taught:
        return Answer.of([item(entry, links) for entry in entries])
    recipe = taught[0]
    steps = _steps(recipe)
    time = f" and {spoken(recipe.minutes)}" if recipe.minutes is not None else ""
    opening = f"{recipe.name} takes {len(steps)} steps{time}. Let us start."
    parts = [Part(item=item(recipe, links)), Part(content={"type": "text", "text": opening})]
    for number, step in enumerate(steps, 1):
        parts.append(Part(item=_section(number, step)))
        parts.append(Part(content={"type": "instruction", "step": number, "text": step}))
    closing = "Read all the steps once before you begin, and have everything measured out."
    parts.append(Part(item={"@type": "HowToTip", "text": closing}))
    return Answer(parts, farewell="Tutorial complete")


def _steps(entry: Entry) -> list[str]:
    instructions = entry.document.get("recipeInstructions")
    if not isinstance(instructions, list):
        return []
    return [str(step["text"]) for step in instructions]


def _section(number: int, step: str) -> Document:
    """A step as a section, named after its first clause."""
    title = step.partition(",")[0].partition(".")[0]
    return {"@type": "HowToSection", "name": f"Step {number}: {title}", "description": step}
