// Requests that were opened from a link: a banner names their target until they are sent or it is
// dismissed. Links on our own pages need none. The server reads a link in the fragment, and creates
// one of the request that is shown (playground/composer/deep_links.py).

import { write } from "../site/copy-button.js";
import { activeTab, changeTab, makeTab, openTab } from "./stored-tabs.js";
import { toast } from "../site/toasts.js";

const form = document.getElementById("composer");
const banner = document.querySelector("[data-linked]");
const isLink = () => location.hash.startsWith("#request=");

/** Whether a click on a link of this page, or a link on another page of ours, led here. */
let isOwn = URL.canParse(document.referrer) && new URL(document.referrer).origin === location.origin;

async function post(url, fields) {
  const { "X-CSRFToken": token } = JSON.parse(document.body.getAttribute("hx-headers"));
  const options = { method: "POST", body: new URLSearchParams(fields), headers: { "X-CSRFToken": token } };
  const answer = await fetch(url, options).catch(() => undefined);
  const content = await answer?.json().catch(() => undefined);
  if (!answer?.ok || !content) throw new Error(content?.error ?? "The playground did not respond.");
  return content;
}

async function open() {
  const { hash } = location;
  const needsNoBanner = isOwn;
  isOwn = false; // What is pasted into the address bar next is not ours.
  // It was read: a reload is not to open it again.
  history.replaceState(history.state, "", location.pathname);
  try {
    const { fields, note } = await post(banner.dataset.request, { fragment: hash.slice(1) });
    openTab(makeTab(fields, needsNoBanner && !note ? {} : { link: { note } }));
  } catch (error) {
    toast("The link was not opened.", error.message, { level: "error" });
  }
}

function show() {
  const { link } = activeTab();
  banner.hidden = !link;
  banner.querySelector("[data-linked-note]").textContent = link?.note ?? "";
}

/** Copies a link to the request that is shown to the clipboard. */
export async function copyLink() {
  try {
    const { link } = await post(banner.dataset.create, activeTab().fields);
    if (!(await write(link))) throw new Error("The browser denied access to the clipboard.");
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
