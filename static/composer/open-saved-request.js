// A plain click on a saved request opens it in a tab, without loading a page.

import { closeTab, makeTab, openTab, savedTab, showTab, ofSaved } from "./stored-tabs.js";
import { isChanged } from "./tab-model.js";
import { toast } from "../site/toasts.js";

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-saved]");
  const isPlain = !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || !document.getElementById("composer")) return;
  event.preventDefault();
  const there = savedTab(link.dataset.saved);
  const isOfLesson = Boolean(link.closest("lesson-pane"));
  if (!there) return void open(link.href, isOfLesson ? { replaces: isUnchangedOf(link.dataset.saved) } : {});
  showTab(there);
  if (isChanged(there) && isOfLesson) offerOriginal(there, link.href);
});

/** Selects the collection's tabs without edits: a lesson opens a request with every step. */
function isUnchangedOf(saved) {
  const [collection] = saved.split("/");
  return (tab) => tab.saved.startsWith(`${collection}/`) && !isChanged(tab);
}

/** Offers the saved request to a learner who opens it again after editing it. */
function offerOriginal(tab, address) {
  const run = () => open(address, { closes: tab });
  toast("This request has your edits.", "", { action: { label: "Open it without them", run } });
}

/** Opens a request instead of the tabs that `replaces` selects; `closes` goes when it is there. */
async function open(address, { replaces, closes }) {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.statusText);
    const told = await answer.json();
    if (told.offers_reply) return location.assign(address); // The page makes a run of it.
    const fields = { ...told.fields, parent: "", continues: "" };
    openTab(makeTab(fields, { ...ofSaved(told), run: told.run }), replaces);
    if (closes) closeTab(closes);
  } catch {
    location.assign(address); // The page says what is wrong.
  }
}
