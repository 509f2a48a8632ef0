// Where the focus goes when something comes that was asked for: a sheet, or a part of the page.
// It is set once, in the same task in which the part appears, and so before anybody can type into
// it (htmx settles without a delay for that: see htmx_config.html). It is not moved from a field
// that somebody is in, unless it is the one from which the part was asked for, and nothing has
// been typed there since. A sheet has the whole page to itself: it takes the focus in any case,
// but none of its fields takes what is being typed into another.

const FIELDS = "input, textarea, select, [contenteditable]";

/** Goes up with every field that is entered, and with all that is typed. */
let touches = 0;
/** What it was when a request was sent. */
const sent = new WeakMap();
/** Whether what is being swapped in was asked for from where the focus is. */
let isAnswer = false;
/** Whether a field was entered, or typed into, while what is being swapped in was waited for. */
let wasTouched = false;

// The code editor has its field in a shadow root.
const isField = (element) => Boolean(element?.matches(FIELDS) || element?.shadowRoot);
const isBusy = () => isField(document.activeElement) && !isAnswer;

/** Moves the focus to what has come, unless somebody is in a field. */
export function giveFocus(element, options) {
  if (!isBusy()) element?.focus(options);
}

/** Opens a dialog whose content has come; called in `htmx:afterSettle`. */
export function openSheet(dialog) {
  if (dialog.open) return;
  const isBetween = wasTouched && isField(document.activeElement);
  dialog.showModal();
  if (!isBetween) return;
  // The dialog itself gets the focus, so that what is still being typed goes nowhere.
  dialog.tabIndex = -1;
  dialog.focus();
}

document.addEventListener("focusin", ({ target }) => isField(target) && (touches += 1), { capture: true });
document.addEventListener("input", ({ isTrusted }) => isTrusted && (touches += 1), { capture: true });

document.addEventListener("htmx:beforeRequest", ({ detail }) => sent.set(detail.xhr, touches));
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { elt, target, xhr } = detail;
  const { activeElement } = document;
  wasTouched = sent.get(xhr) !== touches;
  isAnswer = !wasTouched && (elt.contains(activeElement) || target.contains(activeElement));
});
document.addEventListener("htmx:afterRequest", () => {
  isAnswer = wasTouched = false;
});
// htmx would move the focus to it; a dialog that is to be opened does so itself.
for (const name of ["htmx:afterSwap", "htmx:oobAfterSwap"])
  document.addEventListener(name, ({ target }) => {
    if (!isBusy() || target.closest("dialog:not([open])") || target.contains(document.activeElement)) return;
    for (const each of [target, ...target.querySelectorAll("[autofocus]")]) each.removeAttribute("autofocus");
  });
