// The Expect panel of the composer: expectations and captures as rows, the same as JSON, and what
// the run that is shown makes of them. The form's two hidden textareas hold the truth; whatever
// changes goes there first. Loaded when the panel is first shown.

import { captureRows } from "./captures.js";
import { parse, stringify } from "./exact-json.js";
import { expectationRows } from "./expectation-rows.js";
import { Trial } from "./expectation-trial.js";

/** Shows the panel; called once. */
export function mount(panel) {
  const { form } = panel.querySelector("textarea");
  const { expectations, captures } = form.elements;
  const texts = { expectations, captures };
  const views = {
    expectations: expectationRows(panel, (list) => write("expectations", list)),
    captures: captureRows(panel, (object) => write("captures", object)),
  };
  const trial = new Trial(panel, form, {
    judged: (answer) => {
      views.expectations.judged(answer);
      views.captures.judged(answer);
    },
    suggested: (expectation) => views.expectations.append(expectation),
  });

  /** A value that a row has made: the text is written anew, and the JSON view shows it. */
  function write(name, value) {
    const isEmpty = !Object.keys(value).length;
    texts[name].value = isEmpty ? "" : stringify(value, 2);
    area(name).value = texts[name].value;
    changed(name);
  }

  function changed(name) {
    complain(name, "");
    form.dispatchEvent(new CustomEvent("composer:change", { bubbles: true }));
    trial.soon();
  }

  /** Shows the text of a field as rows, if it can be read. */
  function show(name, { andArea = true } = {}) {
    const text = texts[name].value;
    if (andArea) area(name).value = text;
    try {
      const value = text.trim() ? parse(text) : views[name].empty();
      const isRight = Array.isArray(value) === Array.isArray(views[name].empty());
      if (!isRight || typeof value !== "object" || !value)
        throw new Error(`Enter a JSON ${views[name].shape}.`);
      views[name].show(value);
      complain(name, "");
    } catch (error) {
      views[name].show(null);
      complain(name, error.sentence ?? error.message);
    }
  }

  const area = (name) => panel.querySelector(`[data-json="${name}"]`);

  function complain(name, message) {
    area(name).setAttribute("aria-invalid", String(Boolean(message)));
    const note = panel.querySelector(`[data-json-problem="${name}"]`);
    note.textContent = message;
    if (message) area(name).closest("details").open = true;
  }

  for (const name of Object.keys(texts)) {
    area(name).addEventListener("input", () => {
      texts[name].value = area(name).value;
      show(name, { andArea: false });
      form.dispatchEvent(new CustomEvent("composer:change", { bubbles: true }));
      trial.soon();
    });
    show(name);
  }
  form.addEventListener("composer:load", () => {
    for (const name of Object.keys(texts)) show(name);
    trial.soon();
  });
  // Return in a field is no wish to send the request.
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.metaKey && !event.ctrlKey && event.target.matches("input"))
      event.preventDefault();
  });
  trial.soon();
}
