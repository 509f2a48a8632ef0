// The requests that are open in this window, kept in its sessionStorage: they outlive a reload and
// the way to another page, and two windows have nothing to do with each other. What was typed
// as a credential ends with the window.
//
// Runs before the other modules, so that they find the form as it was left. The page that was
// asked for decides which tab is shown: see `arrive`.

import { putFields, readFields } from "./composer-fields.js";
import { announce } from "../site/dom.js";
import { freshText } from "./protocols.js";
import { RequestPane } from "./response-pane.js";
import { mergeCredentials } from "./credentials.js";
import { recall, remember } from "../site/storage.js";
import { canonical, isChanged, nameOf, TabList, titleOf } from "./tab-model.js";
import { toast } from "../site/toasts.js";
import { retargeted } from "./translation.js";
import "./request-tabs.js";

const KEEP_AFTER_MS = 200;
/** Edits of one tab that are put aside. */
const MAX_DRAFTS = 20;
const FIELDS = {
  address: "",
  detected: "",
  auth: "",
  expectations: "",
  captures: "",
  headers: "[]",
  parent: "",
  continues: "",
};

const form = document.getElementById("composer");
const strip = document.querySelector("request-tabs");
const list = TabList.read(recall("tabs", sessionStorage));
const pane = new RequestPane(strip);
let live = false;
let timer;

/** A tab of these fields, not part of the list yet. */
export function makeTab(fields, more = {}) {
  const id = crypto.getRandomValues(new Uint32Array(1))[0].toString(36);
  return { id, fields, base: canonical(fields), saved: "", name: "", run: "", place: "/", ...more };
}

/** What a tab knows of a saved request, as the server tells it. */
export const ofSaved = ({ saved, name, modified, url, fields }) => ({
  saved,
  name,
  modified,
  ...(url && { place: url }),
  ...(fields && { base: canonical(fields) }),
});

/** The tab that the page itself is about. */
function tabOfPage() {
  const fields = readFields(form);
  const about = document.getElementById("saved-request")?.textContent;
  const run = document.getElementById("response").dataset.run ?? "";
  const banner = document.querySelector("[data-linked]");
  const note = banner.querySelector("[data-linked-note]").textContent;
  const link = banner.hidden ? undefined : { note };
  const tab = makeTab(fields, {
    ...(about && ofSaved(JSON.parse(about))),
    run,
    link,
    place: location.pathname,
  });
  if (/^\/runs\/[^/]+\/$/.test(location.pathname)) tab.turn = canonical(fields);
  // What a run sent may not be what is saved.
  if (!location.pathname.startsWith("/runs/")) tab.base = canonical(fields);
  return tab;
}

/** How the page was reached: "navigate", "reload" or "back_forward". */
function arrivalType() {
  // Where both are there, either may miss a return.
  const { navigationType } = window.navigation?.activation ?? {};
  if (navigationType === "traverse") return "back_forward";
  if (navigationType === "reload") return "reload";
  const { type } = performance.getEntriesByType("navigation")[0] ?? {};
  return ["reload", "back_forward"].includes(type) ? type : "navigate";
}

/** The tab to be shown for the address that was asked for. */
function arrive() {
  const mine = tabOfPage();
  const query = new URLSearchParams(location.search);
  const type = arrivalType();
  const isBack = type !== "navigate";
  if (query.size) history.replaceState(history.state, "", location.pathname);
  if (query.has("text") || query.has("request") || query.get("agent")?.includes("://"))
    return list.open(mine);
  const { current } = list;
  if (query.has("agent") && current && !current.saved) {
    current.fields = retargeted(current.fields, mine.fields);
    return list.show(current);
  }
  if (query.size) return list.open(mine);
  if (mine.place === "/" && !isBack && current) return list.show(current);
  const left = type === "back_forward" ? byId(history.state?.tab) : undefined;
  const isLeft = left?.place === mine.place;
  const there = isLeft ? left : (list.at(mine.place) ?? (mine.saved && list.withSaved(mine.saved)));
  const isSame = there && (isBack || mine.saved || canonical(there.fields) === mine.base);
  if (isSame && mine.place !== "/" && there.run !== mine.run)
    Object.assign(there, { run: mine.run, turn: mine.turn });
  return isSame ? list.show(there) : list.open(mine);
}

function keep() {
  clearTimeout(timer);
  timer = undefined;
  window.removeEventListener("beforeunload", keep);
  const { active } = list;
  active.fields = readFields(form);
  active.title = titleOf(active);
  if (isChanged(active)) active.pinned = true;
  remember("tabs", String(list), sessionStorage);
  render();
  showStale();
}

function keepSoon() {
  timer ??= setTimeout(keep, KEEP_AFTER_MS);
  // "pagehide" may run after the next page was opened; browsers keep no page with this listener.
  window.addEventListener("beforeunload", keep);
}

function render() {
  strip.render(
    list.tabs.map((tab) => ({
      id: tab.id,
      name: nameOf(tab).slice(0, 80),
      changed: isChanged(tab) && (Boolean(tab.saved) || tab.pinned),
      saved: Boolean(tab.saved),
      preview: !tab.pinned,
      active: tab === list.active,
    })),
  );
}

/** Puts the tab that is shown now into the page; its run, too, unless that is there already. */
function load({ push = true, showRun = true } = {}) {
  const { active } = list;
  form.dataset.tab = active.id;
  form.elements.saved.value = active.saved;
  form.elements.modified.value = active.modified ?? "";
  putFields(form, active.fields, live);
  if (showRun) pane.show(active.run, live);
  if (push && location.pathname !== active.place) history.pushState({ tab: active.id }, "", active.place);
  else history.replaceState({ ...history.state, tab: active.id }, "");
  if (live) document.title = `${nameOf(active).slice(0, 60)} · NLWeb Playground`;
  form.classList.toggle("composer--continued", Boolean(active.fields.parent));
  showDraft(active);
  if (live && active.isBehind) loadTurn(active);
  showStale();
  remember("tabs", String(list), sessionStorage);
  render();
}

const byId = (id) => list.tabs.find((tab) => tab.id === id);

/** Shows another tab; what was typed into this one stays with it. */
export function showTab(tab, options) {
  if (!tab || tab === list.active) return;
  keep();
  list.show(tab);
  load(options);
}

/** The tab of a saved request, undefined where it is not open. */
export const savedTab = (saved) => list.withSaved(saved);

/**
 * Opens a new tab instead of those that `replaces` selects. What the form makes of its fields is
 * what they were when they were opened.
 */
export function openTab(tab, replaces) {
  keep();
  list.open(tab, replaces);
  load();
  tab.base = canonical(readFields(form));
  keep();
  document.querySelector("work-bench").show("compose");
  if (!tab.pinned)
    announce(`${nameOf(tab).slice(0, 80)}: preview. The next request that you open replaces it.`);
}

/** Keeps a preview open beside what is opened next. */
export function keepTab(tab = list.active) {
  if (!tab || tab.pinned) return;
  tab.pinned = true;
  keep();
  announce(`${nameOf(tab).slice(0, 80)} pinned.`);
}

/** Whether the tab that is shown gives way to what is opened next. */
export const isPreview = () => Boolean(list.active) && !list.active.pinned;

/** Notes something about the tab that is shown. */
export function changeTab(more) {
  Object.assign(list.active, more);
  keep();
}

/** A fresh request to where this one goes. */
function addTab() {
  keep();
  const { agent, address, detected, protocol, version, binding } = list.active.fields;
  const text = freshText(protocol, "", version);
  const fields = { ...FIELDS, agent, address, detected, protocol, version, binding, document: text };
  list.active.pinned ||= list.active.place !== "/";
  list.open(makeTab(fields, { pinned: true }));
  load();
}

export function closeTab(tab = list.active) {
  keep();
  const at = list.close(tab);
  if (!list.tabs.length)
    list.open(
      makeTab(
        { ...tab.fields, ...FIELDS, document: freshText(tab.fields.protocol, "", tab.fields.version) },
        { standsIn: true },
      ),
    );
  load();
  if (!isChanged(tab)) return;
  const undo = () => {
    keep();
    list.restore(tab, at);
    load();
    strip.focus();
  };
  toast("Closed.", `“${nameOf(tab).slice(0, 60)}” was not saved.`, { action: { label: "Undo", run: undo } });
}

/** The tab that is shown, its fields as they are now. */
export function activeTab() {
  keep();
  return list.active;
}

/** All tabs, for the palette. */
export const allTabs = () => list?.tabs ?? [];

/** Notes that a tab was saved; `told` is what the server says of it. */
export function markSaved(tab, told) {
  Object.assign(tab, ofSaved(told), { base: canonical(tab.fields), pinned: true });
  if (tab.run) tab.place = `/runs/${tab.run}/`;
  load({ push: false });
  history.replaceState({ tab: tab.id }, "", tab.place);
}

const runOf = (place) => /^\/runs\/([^/]+)\//.exec(place)?.[1];

/** A request is being sent by an element: the composer's own is that of the turn to come. */
function sending(element) {
  list.active.sending = element === form ? canonical(readFields(form)) : "";
}

/**
 * A run that was begun from a tab: it is what the tab shows, wherever one is by then. What was
 * sent from within the response was not composed here: its request is fetched.
 */
function sent(tab, place, sender) {
  tab.run = runOf(place) ?? tab.run;
  tab.place = place;
  tab.pinned = true;
  if (sender === form) tab.turn = tab.sending;
  else tab.isBehind = true;
  keep();
  if (tab === list.active && tab.isBehind) loadTurn(tab);
}

/** Shows a turn of the conversation that the tab shows: its response, and its request. */
export async function showTurn(place, { push = true } = {}) {
  keep();
  const tab = list.active;
  await pane.fetch(runOf(place));
  if (tab !== list.active) return;
  if (push) history.pushState({ tab: tab.id, run: runOf(place) }, "", place);
  Object.assign(tab, { run: runOf(place), place, pinned: true, isBehind: true });
  await loadTurn(tab);
}

/** Puts the request of the turn that a tab shows into the composer; edits become a draft. */
async function loadTurn(tab) {
  const { run } = tab;
  let turn;
  try {
    const answer = await fetch(`/runs/${run}/request/`, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.statusText);
    turn = await answer.json();
  } catch {
    return; // The composer keeps what it has; the next turn tries again.
  }
  if (tab !== list.active || tab.run !== run) return;
  const now = readFields(form);
  const fields = { ...turn.fields, headers: withCredentials(turn.fields, now) };
  tab.isBehind = false;
  // Nothing changes under the hands of somebody who types: the header says that they differ.
  if (isEdited(tab, now) && form.contains(document.activeElement)) {
    tab.turn = canonical(fields);
    keep();
    return;
  }
  if (canonical(fields) !== canonical(now)) {
    if (isEdited(tab, now)) putAside(tab, now);
    putFields(form, fields, true);
  }
  tab.turn = canonical(readFields(form));
  Object.assign(
    tab,
    { saved: "", name: "", modified: "", base: tab.turn },
    turn.saved && ofSaved(turn.saved),
  );
  tab.place = location.pathname;
  // Another turn may be on its way into the pane by now: it is not to be given up.
  load({ push: false, showRun: false });
}

/** Headers of a turn, with the credentials of the composer: a run keeps none. */
function withCredentials(fields, now) {
  const isSameTarget = fields.agent === now.agent && fields.address === now.address;
  return isSameTarget ? mergeCredentials(fields.headers, now.headers) : fields.headers;
}

/** Whether the composer holds something else than the request of the turn that the tab shows. */
const isEdited = (tab, fields) => canonical(fields) !== (tab.turn || tab.base);

function putAside(tab, fields) {
  const { saved, name, modified, base } = tab;
  tab.drafts = [...(tab.drafts ?? []), { fields, saved, name, modified, base }].slice(-MAX_DRAFTS);
}

/** Shows the draft that was put aside last; what is edited now takes its place. */
function restoreDraft() {
  keep();
  const tab = list.active;
  const { fields, ...about } = tab.drafts.at(-1);
  tab.drafts = tab.drafts.slice(0, -1);
  if (isEdited(tab, tab.fields)) putAside(tab, tab.fields);
  Object.assign(tab, about, { fields });
  load({ push: false });
  keep();
}

/** Names the latest draft in the strip over the form, which offers it back. */
function showDraft({ drafts }) {
  const strip = form.querySelector("conversation-strip");
  if (drafts?.length) strip.dataset.draft = nameOf(drafts.at(-1));
  else delete strip.dataset.draft;
  strip.update?.();
}

/** Says in the response's header that the form has changed since, and how. */
function showStale() {
  const note = document.querySelector("[data-stale-note]");
  if (!note) return;
  const { active } = list;
  const [now, then] = [canonical(active.fields), active.turn || active.base].map((each) =>
    each ? JSON.parse(each) : [],
  );
  const follows = active.fields.parent && active.fields.parent === active.run;
  const isOther = then.length > 0 && !follows && JSON.stringify(now) !== JSON.stringify(then);
  const hasOtherTarget = isOther && (now[0] !== then[0] || now[5] !== then[5]);
  note.hidden = !isOther;
  note.textContent = hasOtherTarget ? "Different agent selected" : "Request edited after sending";
  document.getElementById("response").toggleAttribute("data-stale", hasOtherTarget);
}

if (form) {
  arrive();
  load({ push: false });
  if (location.pathname !== list.active.place) history.replaceState(history.state, "", list.active.place);
  live = true;
  for (const name of ["composer:change", "composer:invalid"]) form.addEventListener(name, keepSoon);
  strip.addEventListener("tabs:show", ({ detail }) => showTab(byId(detail)));
  strip.addEventListener("tabs:keep", ({ detail }) => keepTab(byId(detail)));
  strip.addEventListener("tabs:close", ({ detail }) => closeTab(byId(detail)));
  form.addEventListener("composer:new", addTab);
  window.addEventListener("pagehide", keep);
  window.addEventListener("popstate", ({ state }) => {
    const tab = byId(state?.tab) ?? list.at(location.pathname);
    if (tab && tab === list.active && runOf(location.pathname)) showTurn(location.pathname, { push: false });
    else if (tab) showTab(tab, { push: false });
    else if (!state?.htmx) location.reload();
  });
  pane.listen({ current: () => list.active, sending, sent });
  form.addEventListener("draft:restore", restoreDraft);
  document.addEventListener("htmx:afterSettle", ({ target }) => target.id === "response" && showStale());
}
