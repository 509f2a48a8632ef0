// The sidebar of every page: shown or hidden on a wide screen, a drawer over the page on a narrow one.

import { remember } from "./storage.js";

const root = document.documentElement;
const sidebar = document.getElementById("sidebar");
/** Where the sidebar is a drawer; as in layout.css. */
const isNarrow = matchMedia("(width < 60rem)");
/** What had the focus before the drawer was opened. */
let opener;

export function toggleSidebar() {
  if (isNarrow.matches) {
    if ("drawer" in root.dataset) closeDrawer();
    else openDrawer();
    return;
  }
  const isClosed = root.dataset.sidebar === "closed";
  if (isClosed) delete root.dataset.sidebar;
  else root.dataset.sidebar = "closed";
  remember("sidebar", isClosed ? "open" : "closed");
}

function openDrawer() {
  opener = document.activeElement;
  root.dataset.drawer = "";
  sidebar.querySelector("a, button").focus();
}

/** Closes the drawer; the focus returns to where it was opened, unless it is elsewhere by now. */
export function closeDrawer() {
  if (!("drawer" in root.dataset)) return;
  const hadFocus = sidebar.contains(document.activeElement);
  delete root.dataset.drawer;
  if (hadFocus) opener?.focus();
}

if (sidebar) {
  isNarrow.addEventListener("change", closeDrawer);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !("drawer" in root.dataset) || document.querySelector("dialog[open]"))
      return;
    event.preventDefault();
    closeDrawer();
  });
  // What it covers is not to have the focus.
  sidebar.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !sidebar.contains(relatedTarget) && !relatedTarget.closest("dialog")) closeDrawer();
  });
  // Outside it; a button that toggles it does so itself.
  document.addEventListener("click", ({ target }) => {
    if (!sidebar.contains(target) && !target.closest('[data-command="sidebar"], dialog')) closeDrawer();
  });
  // On the workbench an agent is chosen in the page, and its link is for other windows.
  sidebar.addEventListener("click", (event) => {
    const link = event.target.closest("[data-choose-agent]");
    if (!link || !document.getElementById("composer")) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey) event.stopPropagation();
    else event.preventDefault();
  });
}
