"""Going through a page as somebody does who has no pointer."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

#: The name of what has the focus: its label, or its text.
_FOCUSED = """() => {
  const at = document.activeElement;
  const name = at.getAttribute("aria-label") || at.labels?.[0]?.innerText || at.innerText;
  return (name || at.localName).replaceAll(/\\s+/g, " ").trim();
}"""
#: Adds a field that can have the focus, also while a dialog is open.
_ADD_FIELD = """() => {
  const field = document.createElement("textarea");
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.focus();
}"""
#: As many steps as no page needs.
_STEPS = 300


def focused(page: Page) -> str:
    """The name of what has the focus."""
    return page.evaluate(_FOCUSED)


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what begins with `name` has the focus."""
    seen: list[str] = []
    for _ in range(_STEPS):
        if focused(page).startswith(name):
            return
        page.keyboard.press("Tab")
        seen.append(focused(page))
    raise AssertionError(f"{name!r} cannot be reached: {seen}")


def press(page: Page, name: str) -> None:
    """Go to a button and press it."""
    tab_to(page, name)
    page.keyboard.press("Enter")


def clipboard_text(page: Page) -> str:
    """The text on the clipboard, pasted: the pages' scripts may not read it."""
    page.evaluate(_ADD_FIELD)
    page.keyboard.press("ControlOrMeta+v")
    text: str = page.evaluate("document.activeElement.value")
    page.evaluate("document.activeElement.remove()")
    return text


#: Sends a field the event of a paste.
_PASTE = """(field, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const event = { clipboardData, bubbles: true, cancelable: true };
  field.dispatchEvent(new ClipboardEvent("paste", event));
}"""


def paste(field: Locator, text: str) -> None:
    """Paste a text into a field, without the clipboard."""
    field.evaluate(_PASTE, text)
