// Captures as rows: a variable, and the path to its value in the reply.

import { iconButton } from "../site/dom.js";
import { pointerOf } from "../composer/json-pointer.js";

/** Shows the rows of the panel; `changed` gets the whole object. */
export function captureRows(panel, changed) {
  const holder = panel.querySelector("[data-captures]");
  const adder = panel.querySelector("[data-add-capture]");
  const template = panel.querySelector("template[data-capture]");

  function show(captures) {
    adder.disabled = !captures;
    holder.replaceChildren(...Object.entries(captures ?? {}).map(([name, path]) => rowOf(name, path)));
  }

  function rowOf(name, path) {
    const row = template.content.firstElementChild.cloneNode(true);
    const [nameField, pathField] = row.querySelectorAll("input");
    nameField.value = name;
    pathField.value = path;
    row.querySelector("[data-tools]").append(
      iconButton("close", "Remove capture", () => {
        row.remove();
        write();
        adder.focus();
      }),
    );
    return row;
  }

  const pairs = () =>
    [...holder.children].map((row) => [...row.querySelectorAll("input")].map((input) => input.value.trim()));

  function write() {
    changed(Object.fromEntries(pairs().filter(([name]) => name)));
  }

  /** The value that each row takes from the run that is shown, or why it takes none. */
  function judged({ problems, captures }) {
    for (const row of holder.children) {
      const [name] = [...row.querySelectorAll("input")].map((input) => input.value.trim());
      const pointer = pointerOf(["captures", name]);
      const problem = problems.find((each) => each.pointer === pointer);
      const found = captures.find((each) => each.name === name);
      row.dataset.verdict = problem ? "wrong" : "none";
      row.querySelector("[data-words]").textContent = problem?.message ?? (found ? `= ${found.value}` : "");
    }
  }

  holder.addEventListener("input", write);
  adder.addEventListener("click", () => {
    holder.append(rowOf("", "$.results[0].url"));
    holder.lastElementChild.querySelector("input").focus();
  });
  return { show, judged, empty: () => ({}), shape: "object of variables and paths" };
}
