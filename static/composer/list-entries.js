// Shows the entries of a <json-list> and changes them: messages of a request with their parts,
// and functions that an agent may call. Every entry stays as it is written, wherever it moves.

import { iconButton, make } from "../site/dom.js";
import { describe, kinds } from "./list-entry-kinds.js";

/** Shows the list, once, and returns what adds an entry to it. */
export function mount(list) {
  const { document: request, keys } = list;
  const kind = kinds[list.dataset.kind];
  const holder = list.querySelector(".list-entries");
  const add = list.querySelector("[data-add]");
  let shape;

  const items = (at = keys) => request.node(at)?.items ?? [];
  const sources = (at) => items(at).map((_, index) => request.source([...at, index]));
  const write = (at, raws) => {
    if (!raws.length && at.length === 1 && kind.isOptional) request.remove(at);
    else request.set(at, raws.length ? `[\n  ${raws.map(indented).join(",\n  ")}\n]` : "[]");
  };
  const form = list.closest("form");
  const api = {
    request,
    form,
    /** Appends an entry to the list at `at`, and puts the focus into it. */
    append(at, value) {
      write(at, [...sources(at), JSON.stringify(value, null, 2)]);
      focusIn(at.length > keys.length ? lastPart(holder, at) : holder.lastElementChild);
    },
    /** Takes entry `index` out; the focus goes to what adds one. */
    remove(at, index) {
      write(at, sources(at).toSpliced(index, 1));
      const entry = at.length > keys.length ? holder.children[Number(at[1])] : undefined;
      const { parentElement: section, hidden: isGone } = list;
      const next = isGone ? section.parentElement.querySelector("add-field button") : add;
      (entry?.querySelector(".list-add button") ?? next).focus();
    },
    move(index, step) {
      const raws = sources(keys);
      const [moved] = raws.splice(index, 1);
      write(keys, raws.toSpliced(index + step, 0, moved));
      const buttons = holder.children[index + step].querySelectorAll("[data-move]");
      const wanted = [...buttons].find((button) => Number(button.dataset.move) === step);
      (wanted.disabled ? [...buttons].find((button) => !button.disabled) : wanted)?.focus();
    },
  };

  function render() {
    if (request.error) return;
    add.disabled = !request.accepts([]) || !["array", undefined].includes(request.node(keys)?.type);
    const found = items();
    const now = JSON.stringify(found.map((node) => describe(node)));
    if (now !== shape) rebuild(found);
    shape = now;
  }

  function rebuild(found) {
    for (const field of holder.querySelectorAll("json-field")) request.complain(field, null);
    holder.replaceChildren(...found.map((node, index) => entryOf(node, index, found.length)));
  }

  function entryOf(node, index, count) {
    const at = [...keys, String(index)];
    const mover = (step, icon, words) => {
      const button = iconButton(icon, `${words} ${kind.name} ${index + 1}`, () => api.move(index, step));
      button.dataset.move = step;
      button.disabled = index + step < 0 || index + step >= count;
      return button;
    };
    const head = make(
      "div",
      { className: "list-head" },
      ...kind.head(node, at, api),
      ...(kind.isOrdered ? [mover(-1, "up", "Move up"), mover(1, "chevron", "Move down")] : []),
      iconButton("close", `Remove ${kind.name} ${index + 1}`, () => api.remove(keys, index)),
    );
    return make(
      "fieldset",
      { className: "list-entry" },
      make("legend", { className: "visually-hidden" }, `${kind.title} ${index + 1}`),
      head,
      ...kind.body(node, at, api),
    );
  }

  const append = () => api.append(keys, kind.fresh(form));
  add.addEventListener("click", append);
  request.addEventListener("change", render);
  render();
  return append;
}

const indented = (raw) => raw.replaceAll("\n", "\n  ");

/** The last part of the message that `at` leads into. */
function lastPart(holder, at) {
  return [...holder.children[Number(at[1])].querySelectorAll(".list-part")].at(-1);
}

function focusIn(element) {
  element?.querySelector("json-field :is(input, textarea)")?.focus();
}
