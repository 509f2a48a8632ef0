// The theme: System, Light or Dark, chosen by name and remembered. boot.js sets it before the first
// paint.

import { announce } from "./dom.js";
import { recall, remember } from "./storage.js";

const root = document.documentElement;

/** The name of the chosen theme: "system", "light" or "dark". */
export const themeName = () => recall("theme") ?? "system";

export function setTheme(name) {
  if (name === "system") delete root.dataset.theme;
  else root.dataset.theme = name;
  remember("theme", name);
  show(name);
  document.getElementById("theme-menu")?.hidePopover();
  announce(`Theme: ${name}`);
}

function show(name) {
  for (const item of document.querySelectorAll("#theme-menu [data-command]"))
    item.setAttribute("aria-pressed", String(item.dataset.command === `theme-${name}`));
}

show(themeName());
