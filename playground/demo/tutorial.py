"""Tutorial of a recipe, step by step: the `detailed` mode of the 0.54 examples (section 5)."""

from __future__ import annotations

from playground.demo.actions import DemoUrls
from playground.demo.corpus import CorpusItem
from playground.demo.items import item, minutes_text
from playground.demo.responses import Answer, Document, StreamPart


def tutorial(entries: list[CorpusItem], links: DemoUrls) -> Answer:
    """Return the best recipe with steps, its steps as sections, with text between them."""
    with_steps = [entry for entry in entries if _steps(entry)]
    if not with_steps:
        return Answer.of([item(entry, links) for entry in entries])
    recipe = with_steps[0]
    steps = _steps(recipe)
    time = f" and {minutes_text(recipe.minutes)}" if recipe.minutes is not None else ""
    opening = f"{recipe.name} takes {len(steps)} steps{time}. Let us start."
    parts = [
        StreamPart(item=item(recipe, links)),
        StreamPart(content={"type": "text", "text": opening}),
    ]
    for number, step in enumerate(steps, 1):
        parts.append(StreamPart(item=_section(number, step)))
        parts.append(StreamPart(content={"type": "instruction", "step": number, "text": step}))
    closing = "Read all the steps once before you begin, and have everything measured out."
    parts.append(StreamPart(item={"@type": "HowToTip", "text": closing}))
    return Answer(parts, closing_failure="Tutorial complete")


def _steps(entry: CorpusItem) -> list[str]:
    instructions = entry.document.get("recipeInstructions")
    if not isinstance(instructions, list):
        return []
    return [str(step["text"]) for step in instructions]


def _section(number: int, step: str) -> Document:
    """Return a step as a section, named after its first clause."""
    title = step.partition(",")[0].partition(".")[0]
    return {"@type": "HowToSection", "name": f"Step {number}: {title}", "description": step}
