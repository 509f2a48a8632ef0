// The requests that are open in a window, as data.

import assert from "node:assert/strict";
import { test } from "node:test";
import { canonical, isChanged, nameOf, TabList, titleOf } from "../../static/composer/tab-model.js";
import { putRows } from "./page-rows.js";

putRows({ nlweb: { operations: [{ text: "/query/text", title: "/query/text" }] } });

const fields = (more = {}) => ({
  agent: "demo",
  address: "",
  protocol: "nlweb",
  version: "0.55",
  binding: "http",
  document: '{"query": {"text": "eggs"}}',
  headers: "[]",
  auth: "",
  expectations: "",
  captures: "",
  parent: "",
  ...more,
});

const tab = (id, more = {}) => ({
  id,
  fields: fields(),
  base: canonical(fields()),
  saved: "",
  name: "",
  run: "",
  place: "/",
  ...more,
});
const ids = (list) => list.tabs.map(({ id }) => id).join(" ");

test("fields that say the same are equal, however they are written", () => {
  const same = [
    { document: '{\n  "query": {"text":"e\\u0067gs"}\n}' },
    { headers: "", auth: "{}", expectations: " [] ", captures: "{}" },
    { address: "http://not.used.example" },
  ];
  for (const each of same) assert.equal(canonical(fields(each)), canonical(fields()));
});

test("fields that say something else differ", () => {
  const others = [
    { agent: "" },
    { agent: "", address: "http://a.example" },
    { protocol: "agent-api" },
    { version: "0.54" },
    { binding: "mcp" },
    { document: '{"query": {"text": "eggs "}}' },
    { document: '{"query": {"text": "eggs"}, "x": 1}' },
    { document: "{" },
    { headers: '[["a", "b"]]' },
    { auth: '{"type": "none"}' },
    { expectations: '[{"type": "state"}]' },
    { captures: '{"id": "$.id"}' },
    { parent: "1" },
  ];
  const all = others.map((each) => canonical(fields(each)));
  assert.equal(new Set([...all, canonical(fields())]).size, others.length + 1);
});

test("a number with more digits than fit is not the same as its neighbour", () => {
  const of = (number) => canonical(fields({ document: `{"n": ${number}}` }));
  assert.notEqual(of("9007199254740993"), of("9007199254740992"));
  assert.equal(of("1.0"), of("1"));
  assert.equal(of("1e3"), of("1000"));
});

test("a tab has the name of what is saved, or the words of its request", () => {
  assert.equal(nameOf(tab("a")), "eggs");
  assert.equal(nameOf(tab("a", { name: "Breakfast" })), "Breakfast");
  for (const document of ["{", "{}", '{"query": {"text": " "}}', "null"])
    assert.equal(nameOf(tab("a", { fields: fields({ document }) })), "New request");
});

test("a tab keeps its title while its JSON is broken", () => {
  const good = { name: "", fields: { protocol: "nlweb", document: '{"query": {"text": "soup"}}' } };
  good.title = titleOf(good);
  const broken = { ...good, fields: { ...good.fields, document: '{"query": {"text": "soup",,}}' } };
  assert.equal(titleOf(broken), "soup");
  assert.equal(nameOf(broken), "soup");
  assert.equal(nameOf({ ...broken, title: undefined }), "New request");
  assert.equal(nameOf({ ...good, fields: { ...good.fields, document: "{}" } }), "New request");
});

test("a tab has changed once its fields are not what they were", () => {
  const one = tab("a");
  assert.equal(isChanged(one), false);
  one.fields = fields({ version: "0.54" });
  assert.equal(isChanged(one), true);
});

test("what was only looked at gives way to what is opened next", () => {
  const list = new TabList();
  list.open(tab("a"));
  list.open(tab("b"));
  assert.equal(ids(list), "b");
  list.active.pinned = true;
  list.open(tab("c"));
  assert.equal(ids(list), "b c");
  list.show(list.tabs[0]);
  list.open(tab("d", { pinned: true }));
  assert.equal(ids(list), "b d c");
});

test("there is one preview, wherever it stands", () => {
  const list = new TabList();
  list.open(tab("look"));
  list.open(tab("own", { pinned: true }));
  assert.equal(ids(list), "own");
  list.open(tab("b"));
  list.show(list.tabs[0]);
  list.open(tab("c"));
  assert.equal(ids(list), "own c");
  list.show(list.tabs[0]);
  list.open(tab("d", { pinned: true }));
  assert.equal(ids(list), "own d c");
});

test("a tab can be opened instead of others, pinned ones included", () => {
  const list = new TabList();
  for (const id of ["a", "b", "c"]) list.open(tab(id, { pinned: true }));
  list.open(tab("d"), ({ id }) => id !== "b");
  assert.equal(ids(list), "b d");
  assert.equal(list.active.id, "d");
});

test("work goes on in the tab that was worked in last", () => {
  const list = new TabList();
  for (const id of ["a", "b"]) list.open(tab(id, { pinned: true }));
  list.show(list.tabs[0]);
  list.open(tab("look"));
  assert.equal(list.current.id, "a");
  list.show(list.tabs.find(({ id }) => id === "b"));
  assert.equal(list.current.id, "b");
  const lone = new TabList();
  lone.open(tab("look"));
  assert.equal(lone.current.id, "look");
});

test("a closed tab leaves the view to its neighbour and comes back to its place", () => {
  const list = new TabList();
  for (const id of ["a", "b", "c"]) list.open(tab(id, { pinned: true }));
  const [, middle] = list.tabs;
  list.show(middle);
  assert.equal(list.close(middle), 1);
  assert.equal(list.active.id, "c");
  list.restore(middle, 1);
  assert.equal(ids(list), "a b c");
  assert.equal(list.active.id, "b");
  list.close(list.tabs[0]);
  assert.equal(list.active.id, "b");
});

test("what stood in for the last tab goes when that comes back, unless it was worked in", () => {
  for (const pinned of [false, true]) {
    const list = new TabList();
    const last = tab("a", { pinned: true });
    list.open(last);
    list.close(last);
    list.open(tab("empty", { standsIn: true, pinned }));
    list.restore(last, 0);
    assert.equal(ids(list), pinned ? "a empty" : "a");
    assert.equal(list.active.id, "a");
  }
});

test("an address finds the tab that is shown before the one that was last", () => {
  const list = new TabList();
  for (const id of ["a", "b", "c"]) list.open(tab(id, { pinned: true, place: "/runs/1/", saved: "x/y" }));
  list.show(list.tabs[0]);
  assert.equal(list.at("/runs/1/").id, "a");
  list.open(tab("d", { pinned: true }));
  assert.equal(list.at("/runs/1/").id, "a");
  assert.equal(list.withSaved("x/y").id, "a");
  assert.equal(list.at("/runs/2/"), undefined);
});

test("the list is kept as text, and what cannot be read is an empty one", () => {
  const list = new TabList();
  for (const id of ["a", "b"]) list.open(tab(id, { pinned: true }));
  list.show(list.tabs[0]);
  const again = TabList.read(String(list));
  assert.deepEqual(again.tabs, list.tabs);
  assert.equal(again.active.id, "a");
  for (const text of [null, "", "{", "null", "7", '{"tabs": 3}', '{"tabs": [null, 4, {"id": 1}]}'])
    assert.deepEqual(TabList.read(text).tabs, []);
});

test("beyond the limit the oldest go that hold nothing of their own", () => {
  const list = new TabList();
  for (let number = 0; number < 39; number += 1) list.open(tab(`t${number}`, { pinned: true }));
  list.tabs[0].fields = fields({ version: "0.54" });
  list.open(tab("x", { pinned: true }));
  list.open(tab("y", { pinned: true }));
  assert.equal(list.tabs.length, 40);
  assert.deepEqual(
    ["t0", "t1", "x", "y"].map((id) => list.tabs.some((each) => each.id === id)),
    [true, false, true, true],
  );
});
