// A plain click on a saved request opens it in a tab, without loading a page.

import { makeTab, openTab, savedTab, showTab, ofSaved } from "./open-tabs.js";

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-saved]");
  const isPlain = !event.button && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || !document.getElementById("composer")) return;
  event.preventDefault();
  const there = savedTab(link.dataset.saved);
  if (there) showTab(there);
  else open(link.href);
});

async function open(address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.statusText);
    const told = await answer.json();
    if (told.offers_reply) return location.assign(address); // The page makes a run of it.
    openTab(makeTab({ ...told.fields, parent: "", continues: "" }, { ...ofSaved(told), run: told.run }));
  } catch {
    location.assign(address); // The page says what is wrong.
  }
}
