// Requests that came with a link: a banner says so until they are sent or it is put away, and
// where they would go. Opens a link in the fragment, and makes one of the request that is shown.

import { write } from "./copy-button.js";
import { activeTab, changeTab, makeTab, openTab } from "./open-tabs.js";
import { toast } from "./toasts.js";

const form = document.getElementById("composer");
const banner = document.querySelector("[data-linked]");
const isLink = () => location.hash.startsWith("#request=");
const load = () => import(banner.dataset.module);

/** Whether the agent of a link is one of ours, and not another one that is called the same. */
function isHere({ agent, address }) {
  const option = [...form.elements.agent.options].find(({ value }) => value && value === agent);
  return Boolean(option) && (!address || originOf(option.dataset.url) === originOf(address));
}

const originOf = (address) => (URL.canParse(address) ? new URL(address).origin : address);

async function open() {
  const { hash } = location;
  // It has been taken in: a reload is not to open it again.
  history.replaceState(history.state, "", location.pathname);
  try {
    const { readLink } = await load();
    const { fields, notes } = readLink(hash);
    const target = isHere(fields) ? fields : { ...fields, agent: "" };
    const note = notes.length ? `Its credentials were left out: ${notes.join(", ")}.` : "";
    openTab(makeTab(target, { link: { note } }));
  } catch (error) {
    toast("The link was not opened.", error.message, { level: "error" });
  }
}

function show() {
  const { link } = activeTab();
  banner.hidden = !link;
  banner.querySelector("[data-linked-note]").textContent = link?.note ?? "";
}

/** Puts a link to the request that is shown on the clipboard. */
export async function copyLink() {
  try {
    const { makeLink } = await load();
    const { fields } = activeTab();
    const option = form.elements.agent.selectedOptions[0];
    const address = fields.agent ? (option.dataset.url ?? "") : fields.address;
    const done = await write(makeLink({ ...fields, address }, location.origin));
    if (!done) throw new Error("The browser did not allow it.");
    toast("Link copied.", "It holds the request, without credentials. Opening it sends nothing.");
  } catch (error) {
    toast("No link was copied.", error.message, { level: "error" });
  }
}

if (banner) {
  form.addEventListener("composer:load", show);
  banner.querySelector("[data-linked-dismiss]").addEventListener("click", () => {
    changeTab({ link: undefined });
    form.querySelector("[role='tab'][aria-selected='true']").focus();
    show();
  });
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target.id === "effective")
      banner.querySelector("[data-is-new]").hidden = !detail.target.querySelector("[data-new-origin]");
    if (detail.target.id === "response" && detail.requestConfig.elt === form) {
      changeTab({ link: undefined });
      show();
    }
  });
  window.addEventListener("hashchange", () => isLink() && open());
  show();
  if (isLink()) document.addEventListener("DOMContentLoaded", open, { once: true });
}
