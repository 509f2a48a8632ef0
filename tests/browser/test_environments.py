"""Environments in a browser: made, used, and a secret that is looked at on request."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

SECRET = "canary-4711"


def make(page: Page, server: PlaygroundServer, name: str) -> None:
    """An environment with a text, and with a secret for the playground's own origin."""
    page.goto(f"{server.url}/environments/")
    page.get_by_label("Name of a new environment").fill(name)
    page.get_by_role("button", name="Add").click()
    first = page.get_by_role("group", name="New variable").first
    first.get_by_label("Name").fill("city")
    first.get_by_label("Value").fill("Paris")
    page.get_by_role("button", name="Variable", exact=True).click()
    second = page.locator("[data-rows] [data-variable]").nth(1)
    second.get_by_label("Name").fill("token")
    second.get_by_label("Kind").select_option("secret")
    second.get_by_label("Value").fill(SECRET)
    second.get_by_label("May go to").fill(server.url)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(f"{name} was saved.")).to_be_visible()


def test_names_stand_for_their_values(page: Page, playground: PlaygroundServer) -> None:
    make(page, playground, "Kitchen")
    workbench = Workbench(page, playground).open()
    expect(page.locator("#environment-select option:checked")).to_have_text("Kitchen")
    workbench.compose("eggs in {{city}} with {{token}} and {{salt}}")
    shown = page.locator("#effective-json")
    expect(shown).to_contain_text("eggs in Paris with")
    expect(shown.locator(".placed--secret")).to_contain_text("token")
    expect(shown.locator(".placed--missing")).to_contain_text("{{salt}}")
    page.get_by_role("button", name="Send").first.click()
    expect(page.locator("#compose-problems")).to_contain_text("{{salt}} is not defined")
    workbench.compose("eggs in {{city}} with {{token}}").send()
    wire = page.request.get(f"{page.url}wire.txt").text()
    assert "eggs in Paris with ••••••" in wire
    assert SECRET not in wire
    assert SECRET not in page.content()


def test_what_follows_on_a_name_has_its_colours(workbench: Workbench) -> None:
    workbench.open().compose("eggs {{nobody}}")
    expect(workbench.page.locator("#effective-json .placed--missing")).to_be_visible()
    workbench.page.wait_for_function(
        """() => {
            const words = (name) => [...CSS.highlights.get(name)]
                .filter((each) => each.startContainer.parentElement.closest("#effective-json"))
                .map((each) => {
                    const range = new Range();
                    range.setStart(each.startContainer, each.startOffset);
                    range.setEnd(each.endContainer, each.endOffset);
                    return String(range);
                });
            return words("json-word").includes("true") && words("json-key").includes('"prefer"')
                && words("json-string").some((each) => /^"eggs .*nobody}}"$/.test(each));
        }"""
    )


def test_a_secret_is_shown_on_request_and_hidden_again(
    page: Page, playground: PlaygroundServer
) -> None:
    make(page, playground, "Cellar")
    assert SECRET not in page.content()
    page.get_by_role("button", name="Reveal token").click()
    expect(page.locator(".variable-revealed")).to_have_text(SECRET)
    page.locator("[data-reveal]").click()
    expect(page.locator(".variable-revealed")).to_have_count(0)


def test_axe_finds_nothing_in_environments(still: Page, playground: PlaygroundServer) -> None:
    name = f"Pantry {still.evaluate('Math.random()')}"
    make(still, playground, name)
    assert findings(still, both_themes=True) == []
    still.goto(f"{playground.url}/environments/")
    assert findings(still, both_themes=True) == []
