// Requests that were opened from a link: a banner names their target until they are sent or it is
// dismissed. Links on our own pages need none. Opens a link in the fragment, and creates one of the
// request that is shown.

import { write } from "./copy-button.js";
import { activeTab, changeTab, makeTab, openTab } from "./open-tabs.js";
import { toast } from "./toasts.js";

const form = document.getElementById("composer");
const banner = document.querySelector("[data-linked]");
const isLink = () => location.hash.startsWith("#request=");
const load = () => import(banner.dataset.module);

/** Whether a click on a link of this page, or a link on another page of ours, led here. */
let isOwn = URL.canParse(document.referrer) && new URL(document.referrer).origin === location.origin;

/** Whether the agent of a link is one of ours, and not another one that is called the same. */
function isHere({ agent, address }) {
  const option = [...form.elements.agent.options].find(({ value }) => value && value === agent);
  return Boolean(option) && (!address || originOf(option.dataset.url) === originOf(address));
}

const originOf = (address) => (URL.canParse(address) ? new URL(address).origin : address);

async function open() {
  const { hash } = location;
  // It was read: a reload is not to open it again.
  history.replaceState(history.state, "", location.pathname);
  try {
    const { readLink } = await load();
    const { fields, notes } = readLink(hash);
    const target = isHere(fields) ? fields : { ...fields, agent: "" };
    const note = notes.length ? `Its credentials were removed: ${notes.join(", ")}.` : "";
    openTab(makeTab(target, isOwn && !note ? {} : { link: { note } }));
  } catch (error) {
    toast("The link was not opened.", error.message, { level: "error" });
  }
  isOwn = false; // What is pasted into the address bar next is not ours.
}

function show() {
  const { link } = activeTab();
  banner.hidden = !link;
  banner.querySelector("[data-linked-note]").textContent = link?.note ?? "";
}

/** Copies a link to the request that is shown to the clipboard. */
export async function copyLink() {
  try {
    const { makeLink } = await load();
    const { fields } = activeTab();
    const option = form.elements.agent.selectedOptions[0];
    const address = fields.agent ? (option.dataset.url ?? "") : fields.address;
    const done = await write(makeLink({ ...fields, address }, location.origin));
    if (!done) throw new Error("The browser denied access to the clipboard.");
    toast("Link copied.", "It contains the request, without credentials. Opening it sends nothing.");
  } catch (error) {
    toast("The link was not copied.", error.message, { level: "error" });
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
  document.addEventListener("click", ({ target }) => {
    const link = target.closest("a[href]");
    // Links in drawings have no hash.
    isOwn = link?.hash?.startsWith("#request=") && !link.relList.contains("noreferrer");
  });
  window.addEventListener("hashchange", () => isLink() && open());
  show();
  if (isLink()) document.addEventListener("DOMContentLoaded", open, { once: true });
}
