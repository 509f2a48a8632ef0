"""NLWeb over MCP in the page: a question of the server, answered while its call waits."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench
from tests.support.mcp_servers import Recipes, serving


def test_a_question_in_mid_call_is_answered_while_the_call_waits(workbench: Workbench) -> None:
    page, recipes = workbench.page, Recipes(asks=True)
    with serving(recipes, generation="initialize") as url:
        workbench.add_agent("Recipes over MCP", url, binding="mcp").compose("eggs").send()
        entry = page.locator(".ask")
        expect(entry).to_contain_text("Who is coming?")
        expect(workbench.badge).to_have_attribute("data-state", "streaming")
        assert findings(page) == []
        entry.get_by_role("button", name="Answer", exact=True).click()
        expect(entry).to_contain_text("Choose one of the options.")
        entry.get_by_label("How many guests?").fill("13")
        entry.get_by_role("button", name="Answer", exact=True).click()
        expect(entry).to_contain_text("Enter a whole number from 1 to 12.")
        # What was filled in survives a reload; another window shows the question, too.
        entry.get_by_label("vegetarian").check()
        entry.get_by_label("How many guests?").fill("4")
        page.reload()
        expect(entry.get_by_label("How many guests?")).to_have_value("4")
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.locator(".ask")).to_contain_text("Who is coming?")
        run = workbench.run
        entry.get_by_role("button", name="Answer", exact=True).click()
        expect(workbench.badge).to_have_text("Completed")
        assert workbench.run == run
        assert recipes.heard == [("accept", {"diet": "vegetarian", "guests": 4})]
        expect(page.locator("#cards .card")).to_have_count(1)
        for shown in (entry, other.locator(".ask")):
            expect(shown).to_contain_text("Answered during the call.")
            expect(shown.locator(".ask-form")).not_to_be_visible()
        assert findings(page) == []
