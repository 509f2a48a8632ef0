// What the server says is wrong with a request, brought to the fields that it is about.

const LISTS = "#effective .problem-item, #compose-problems .problem-item";

/** The field that shows the member a pointer leads to, or the nearest one above it. */
function fieldAt(pointer) {
  for (let at = pointer; at; at = at.slice(0, at.lastIndexOf("/"))) {
    const field = document.querySelector(`json-field[data-pointer="${CSS.escape(at)}"]`);
    if (field) return field;
  }
  return null;
}

function spread() {
  const items = [...document.querySelectorAll(LISTS)];
  const told = new Set();
  for (const item of items) {
    const field = fieldAt(item.dataset.pointer);
    if (!field || told.has(field)) continue;
    // A field that nobody has touched is not scolded for being empty.
    if (field.dataset.kind === "unset" && !item.closest("#compose-problems")) continue;
    told.add(field);
    field.problem = item.querySelector("span").textContent;
  }
  for (const tab of document.querySelectorAll("#composer [data-section]")) {
    const { section } = tab.dataset;
    const count = items.filter((item) => section && item.dataset.pointer.startsWith(section)).length;
    if (count) tab.dataset.problems = count;
    else delete tab.dataset.problems;
  }
}

function go(pointer) {
  const field = fieldAt(pointer);
  const panel = field?.closest('[role="tabpanel"]')?.id ?? "tab-json";
  document.querySelector("#composer tab-set").show(panel);
  field?.focus();
}

document.addEventListener("htmx:afterSwap", (event) => {
  if (["effective", "compose-problems"].includes(event.detail.target.id)) spread();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-go]");
  if (link) go(link.dataset.go);
});
