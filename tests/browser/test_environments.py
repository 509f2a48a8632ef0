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
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.wait_for_load_state()
    first = page.get_by_role("group", name="New variable").first
    first.get_by_label("Name").fill("city")
    first.get_by_label("Value").fill("Paris")
    page.get_by_role("button", name="Variable", exact=True).click()
    second = page.locator("[data-rows] [data-variable]").nth(1)
    second.get_by_label("Name").fill("token")
    second.get_by_label("Kind").select_option("secret")
    second.get_by_label("Value").fill(SECRET)
    second.get_by_label("Allowed origins").fill(server.url)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(f"{name} was saved.")).to_be_visible()
    page.wait_for_load_state()


def test_one_is_made_and_its_names_stand_for_their_values(workbench: Workbench) -> None:
    page = workbench.page
    make(page, workbench.server, f"Kitchen {page.evaluate('Math.random()')}")
    assert findings(page, both_themes=True) == []
    # A secret is shown on request and hidden again.
    assert SECRET not in page.content()
    revealed = page.locator(".variable-revealed")
    page.get_by_role("button", name="Reveal token").click()
    expect(revealed).to_have_text(SECRET)
    page.locator("[data-reveal]").click()
    expect(revealed).to_have_count(0)
    # One that was typed survives a mistake, which is shown at its field.
    row = page.locator("[data-rows] [data-variable]").last
    row.get_by_label("Name").fill("not a name")
    row.get_by_label("Kind").select_option("secret")
    row.get_by_label("Value").fill("canary-0815")
    row.get_by_label("Allowed origins").fill(workbench.server.url)
    page.get_by_role("button", name="Save").click()
    expect(row.locator(".variable-name")).to_contain_text("Use at most 80 letters")
    expect(row.get_by_label("Name")).to_be_focused()
    expect(row.get_by_label("Value")).to_have_value("canary-0815")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("key")
    page.get_by_role("button", name="Save").click()
    reveal = page.get_by_role("button", name="Reveal key")
    expect(reveal).to_be_visible()
    page.wait_for_load_state()
    reveal.click()
    expect(revealed).to_have_text("canary-0815")

    workbench.open()
    expect(page.locator("#environment-select option:checked")).to_contain_text("Kitchen")
    workbench.compose("eggs in {{city}} with {{token}} and {{salt}}")
    shown = page.locator("#effective-json")
    expect(shown).to_contain_text("eggs in Paris with")
    expect(shown.locator(".placed--secret")).to_contain_text("token")
    expect(shown.locator(".placed--missing")).to_contain_text("{{salt}}")
    page.get_by_role("button", name="Send").first.click()
    # The message is at the field, and only there.
    expect(page.locator("#compose-problems")).to_contain_text("Not sent")
    expect(page.get_by_text("{{salt}} is not defined").filter(visible=True)).to_have_count(1)
    # What follows on a name has its colours.
    page.get_by_role("button", name="Effective request").click()
    expect(shown.locator(".placed--missing")).to_be_visible()
    page.wait_for_function(
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
                && words("json-string").some((each) => /^"eggs .*salt}}"$/.test(each));
        }"""
    )
    workbench.compose("eggs in {{city}} with {{token}}").send()
    expect(workbench.badge).to_have_text("Completed")
    wire = page.request.get(f"{page.url}wire.txt").text()
    assert "eggs in Paris with ••••••" in wire
    assert SECRET not in wire
    assert SECRET not in page.content()


def test_what_is_not_defined_is_created_on_the_spot(workbench: Workbench) -> None:
    page = workbench.open().compose("eggs in {{town}} with {{kitchen_key}}").page
    field = page.locator('json-field[data-pointer="/query/text"]')
    expect(field.locator(".field-error")).to_contain_text("{{town}} is not defined")
    # The field has the focus, and loses it between the press and the release.
    field.get_by_role("button", name="Create {{town}}…").click(delay=100)
    sheet = page.get_by_role("dialog", name="Create variable")
    value = sheet.get_by_label("Value")
    expect(value).to_be_focused()
    page.keyboard.type("Oslo")
    sheet.get_by_label("Name of the new environment").fill("")
    sheet.get_by_role("button", name="Create").click()
    expect(sheet.get_by_text("This field is required.")).to_be_visible()
    sheet.get_by_label("Name of the new environment").fill("On the spot")
    assert findings(page, "dialog[open]") == []
    sheet.get_by_role("button", name="Create").click()
    expect(sheet).to_be_hidden()
    expect(page.locator("#environment-select option:checked")).to_have_text("On the spot")
    expect(workbench.effective).to_contain_text("eggs in Oslo with")
    field.get_by_role("button", name="Create {{kitchen_key}}…").click()
    expect(sheet.get_by_label("Environment", exact=True)).to_have_value("on-the-spot")
    sheet.get_by_label("Secret").check()
    sheet.get_by_label("Value").fill(SECRET)
    origins = sheet.get_by_role("textbox", name="Allowed origins")
    expect(origins).to_have_value(workbench.server.url)
    origins.fill("ftp://nowhere")
    sheet.get_by_role("button", name="Create").click()
    expect(origins).to_have_attribute("aria-invalid", "true")
    # What was typed is still there, and was not sent back.
    expect(sheet.get_by_label("Value")).to_have_value(SECRET)
    origins.fill(workbench.server.url)
    sheet.get_by_role("button", name="Create").click()
    expect(field.locator(".field-error")).to_be_hidden()
    page.get_by_role("button", name="Environment values").click()
    values = page.get_by_role("dialog", name="Environment values")
    expect(values).to_contain_text("Oslo")
    expect(values.get_by_role("img", name="secret, not shown")).to_be_visible()
    assert findings(page, "#environment-values") == []
    assert SECRET not in page.content()
    page.keyboard.press("Escape")
    workbench.send()
