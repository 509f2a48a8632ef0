// Expectations as rows: a type, its fields, and beside them what the run that is shown makes of it.

import { announce, iconButton } from "../site/dom.js";
import { fill, read, showOperand } from "./expectation-fields.js";

/** Shows the rows of the panel; `changed` gets the whole list. */
export function expectationRows(panel, changed) {
  const holder = panel.querySelector("[data-expectations]");
  const adder = panel.querySelector("[data-add-expectation]");
  let list = [];

  const template = (kind) =>
    panel.querySelector(`template[data-kind="${CSS.escape(kind)}"]`) ??
    panel.querySelector('template[data-kind=""]');
  const kindOf = (expectation) =>
    expectation && !Array.isArray(expectation) && typeof expectation.type === "string"
      ? expectation.type
      : "";

  function show(found) {
    list = found ?? [];
    adder.disabled = !found;
    holder.replaceChildren(...list.map((expectation, index) => rowOf(expectation, index)));
  }

  function rowOf(expectation, index) {
    const source = template(kindOf(expectation));
    const row = source.content.firstElementChild.cloneNode(true);
    row.dataset.kind = source.dataset.kind;
    fill(row, expectation);
    row.querySelector("legend").textContent = `Expectation ${index + 1}`;
    row.querySelector("[data-tools]").append(
      mover(index, -1, "up", "Move up"),
      mover(index, 1, "chevron", "Move down"),
      iconButton("close", `Remove expectation ${index + 1}`, () => remove(index)),
    );
    row.addEventListener("input", () => {
      showOperand(row);
      list[index] = read(row, list[index]);
      changed(list);
    });
    row.querySelector("[data-type]")?.addEventListener("input", (event) => retype(event, index));
    return row;
  }

  function mover(index, step, name, words) {
    const button = iconButton(name, `${words} expectation ${index + 1}`, () => move(index, step));
    button.dataset.move = step;
    button.disabled = index + step < 0 || index + step >= list.length;
    return button;
  }

  function retype(event, index) {
    event.stopPropagation();
    list[index] = read(withKind(event.target.value), {});
    redraw();
    holder.children[index].querySelector("[data-type]").focus();
  }

  /** A row of a type as it comes: its fields say what a new expectation holds. */
  function withKind(kind) {
    const row = template(kind).content.firstElementChild.cloneNode(true);
    row.dataset.kind = kind;
    return row;
  }

  function remove(index) {
    list.splice(index, 1);
    redraw();
    announce(`Expectation ${index + 1} removed`);
    (holder.children[Math.min(index, list.length - 1)]?.querySelector("[data-type]") ?? adder).focus();
  }

  function move(index, step) {
    const [moved] = list.splice(index, 1);
    list.splice(index + step, 0, moved);
    redraw();
    const buttons = [...holder.children[index + step].querySelectorAll("[data-move]")];
    const wanted = buttons.find((button) => Number(button.dataset.move) === step);
    (wanted.disabled ? buttons.find((button) => !button.disabled) : wanted)?.focus();
  }

  function redraw() {
    changed(list);
    show(list);
  }

  function append(expectation) {
    list.push(expectation);
    redraw();
    const row = holder.lastElementChild;
    row.scrollIntoView({ block: "nearest" });
    (row.querySelector("[data-field]:not([hidden])") ?? row.querySelector("[data-type]")).focus();
  }

  /** What became of each row: a problem with it, or the verdict of the run that is shown. */
  function judged({ problems, checks }) {
    [...holder.children].forEach((row, index) => {
      const prefix = `/expectations/${index}`;
      const mine = problems.filter(({ pointer }) => pointer === prefix || pointer.startsWith(`${prefix}/`));
      const check = checks[index];
      const note = row.querySelector("[data-note]");
      const text = mine.length ? mine[0].message : check ? `${check.word}. Actual: ${check.actual}` : "";
      row.dataset.verdict = mine.length ? "wrong" : (check?.verdict ?? "none");
      note.querySelector("[data-words]").textContent = text;
      const wrong = new Set(mine.map(({ pointer }) => pointer.slice(prefix.length + 1)));
      for (const field of row.querySelectorAll("[data-field]"))
        field.setAttribute("aria-invalid", String(wrong.has(field.dataset.field)));
    });
  }

  adder.addEventListener("click", () => append(read(withKind(list.length ? "json" : "outcome"), {})));
  return { show, append, judged, empty: () => [], shape: "list of expectations" };
}
