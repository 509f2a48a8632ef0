// <target-bar>: where the request goes. A combobox of agents and URLs, a menu of protocol, version
// and binding, detection, and Send.
//
// Another agent changes the target and nothing else, unless its protocol is another: then the
// request of that protocol takes the place of this one, which is kept. Another version also changes
// meta.version, where that named the old one. The values are those of the form's fields `agent`
// (a select without a look of its own), `address`, `protocol`, `version`, `binding` and `detected`.

import { make } from "../site/dom.js";
import { rowOf, showProtocol } from "./protocols.js";
import { documentOf } from "./request-document.js";
import { recall, remember } from "../site/storage.js";
import { isCommand, isSameUrl, matching, typedUrl } from "./target-url.js";
import { toast } from "../site/toasts.js";
import { translated, versioned } from "./translation.js";

class TargetBar extends HTMLElement {
  connectedCallback() {
    if (this.input) return;
    this.form = this.closest("form");
    this.input = this.querySelector("[role='combobox']");
    this.list = this.querySelector("[role='listbox']");
    this.chip = this.querySelector("[data-target-chip]");
    this.menu = this.querySelector("[data-target-menu]");
    this.note = this.querySelector("[data-target-note]");
    this.detection = this.querySelector("[data-detect-button]");
    this.request = documentOf(this.form);
    this.before = this.fields.version.value;
    this.#listenToFields();
    this.#listenToCombobox();
    this.#listenToMenu();
    this.detection.addEventListener("click", () => (this.running ? this.#stop() : this.#detect()));
    this.form.addEventListener("composer:load", () => {
      this.before = this.fields.version.value;
      this.#stop();
      this.#close();
      this.say();
      this.show();
    });
    document.addEventListener("target:switch", ({ detail }) => {
      this.switchTo(detail);
      if (this.agent) toast("Agent updated.", `${this.agent.text} has the settings of this request now.`);
    });
    this.show();
  }

  get fields() {
    return this.form.elements;
  }

  /** The option of the chosen agent, undefined where the target is a URL. */
  get agent() {
    const { agent } = this.fields;
    return agent.value ? agent.selectedOptions[0] : undefined;
  }

  get url() {
    return this.agent ? this.agent.dataset.url : this.fields.address.value;
  }

  /** Shows the fields' values. */
  show() {
    const { agent, url, fields } = this;
    this.input.value = agent ? agent.text : url;
    this.input.removeAttribute("aria-invalid");
    this.input.title = url;
    fields.protocol.value = this.form.dataset.protocol;
    fields.protocol.disabled = Boolean(agent);
    this.querySelector("[data-target-binding]").hidden =
      rowOf(this.form.dataset.protocol).bindings.length === 1;
    for (const option of fields.version.options) {
      const isOwn = option.disabled || !agent || option.value === agent.dataset.version;
      option.text = isOwn ? option.dataset.label : `${option.dataset.label} (overrides agent default)`;
    }
    this.#showChip();
    this.#showDetection();
    this.#showLinks();
    showOrigin(url);
    for (const card of document.querySelectorAll("[data-for-agent]"))
      card.hidden = card.dataset.forAgent !== fields.agent.value;
    for (const button of document.querySelectorAll("[data-choose-agent]")) {
      const isChosen = button.dataset.chooseAgent === fields.agent.value;
      if (!isChosen) button.removeAttribute("aria-current");
      else {
        button.setAttribute("aria-current", "true");
        button.scrollIntoView({ block: "nearest" });
      }
    }
  }

  #showChip() {
    const { protocol, version, binding } = this.fields;
    const named = protocol.selectedOptions[0]?.text ?? "";
    const { hasVersions } = rowOf(this.form.dataset.protocol);
    const parts = [...(hasVersions ? [version.value] : []), binding.value.toUpperCase()];
    this.chip.querySelector("[data-target-protocol]").textContent = hasVersions ? named : `${named} ·`;
    this.chip.querySelector("[data-target-label]").textContent = parts.join(" · ");
  }

  /** Detection is offered for a URL whose protocol is not known yet. */
  #showDetection() {
    const { address } = this.fields;
    const isKnown = this.agent || !address.value || isSameUrl(this.#detected().url ?? "", address.value);
    this.detection.hidden = Boolean(isKnown) && !this.running;
    this.detection.textContent = this.running ? "Cancel" : "Detect";
  }

  #detected() {
    try {
      return JSON.parse(this.fields.detected.value || "{}");
    } catch {
      return {};
    }
  }

  #showLinks() {
    const { agent } = this;
    for (const [name, href] of Object.entries({
      save: agent ? "" : this.#newAgent(),
      edit: agent?.dataset.edit ?? "",
      diagnose: agent ? `${agent.dataset.edit}doctor/` : "",
    })) {
      const link = this.menu.querySelector(`[data-target-link="${name}"]`);
      link.hidden = !href || !this.url;
      link.href = href;
    }
  }

  /** The URL of a new agent at this target, with what else is known of it. */
  #newAgent(known = {}) {
    const { protocol, version, binding } = this.fields;
    const target = { protocol: protocol.value, version: version.value, binding: binding.value };
    return `${this.dataset.newAgent}?${new URLSearchParams({ url: this.url, ...target, ...known })}`;
  }

  /** Says something below the bar: nodes and texts, or nothing. */
  say(...parts) {
    this.note.replaceChildren(...parts);
  }

  #listenToFields() {
    const { agent, protocol, version } = this.fields;
    agent.addEventListener("change", () => {
      const { binding, protocol: own, version: ownVersion } = this.agent?.dataset ?? {};
      if (binding) this.fields.binding.value = binding;
      this.say();
      this.#stop();
      this.#speak(own ?? this.form.dataset.protocol, ownVersion);
    });
    protocol.addEventListener("change", () => {
      [this.fields.binding.value] = rowOf(protocol.value).bindings;
      this.#speak(protocol.value);
    });
    this.querySelector("[data-target-binding]").addEventListener("change", () => this.#changed());
    version.addEventListener("change", () => {
      const isNamed = this.request.value(["meta", "version"]) === this.before;
      if (isNamed) this.request.set(["meta", "version"], JSON.stringify(version.value));
      this.before = version.value;
      this.#changed(!isNamed);
    });
    document.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-choose-agent]");
      if (button) chooseAgent(button.dataset.chooseAgent);
    });
  }

  #changed(isAnnounced = true) {
    this.show();
    if (isAnnounced) this.form.dispatchEvent(new CustomEvent("composer:change", { bubbles: true }));
  }

  /** Shows the request of a protocol, in a version. */
  #speak(protocol, version) {
    const isOther = protocol !== this.form.dataset.protocol;
    if (isOther) this.request.write(exchange(this.form, protocol, version));
    else if (version) showProtocol(this.form, protocol, version);
    this.before = this.fields.version.value;
    this.#changed(!isOther);
  }

  /** Makes a URL the target; what was detected at another one does not hold for it. */
  setUrl(url) {
    const { agent, address, detected } = this.fields;
    if (!agent.value && address.value === url) return;
    // The binding of an agent, or one that was detected, is not that of another URL.
    if (agent.value || detected.value) this.fields.binding.value = "http";
    agent.value = "";
    address.value = url;
    detected.value = "";
    this.#stop();
    const typed = this.input.value;
    this.#changed();
    // What is being typed stays as it is until the field is left.
    if (document.activeElement === this.input) this.input.value = typed;
  }

  /** Applies detected settings, or those of the switch that an error proposes. */
  switchTo({ url, protocol, binding, version, label, agent: slug, generation, dialect, at }) {
    const { agent, address, detected } = this.fields;
    const option = [...agent.options].find(({ value }) => value && value === slug);
    if (option) Object.assign(option.dataset, { protocol, binding, version, url: url || option.dataset.url });
    agent.value = option ? slug : "";
    if (!option && url) address.value = url;
    if (!option && label)
      detected.value = JSON.stringify({
        url: address.value,
        protocol,
        binding,
        version,
        label,
        generation,
        dialect,
        at,
      });
    this.fields.binding.value = binding || "http";
    this.#speak(protocol || this.form.dataset.protocol, version);
  }

  // Detection

  async #detect() {
    this.running = new AbortController();
    const { signal } = this.running;
    this.say("Detecting the protocol…");
    this.#showDetection();
    try {
      const { "X-CSRFToken": token } = JSON.parse(document.body.getAttribute("hx-headers"));
      const answer = await fetch(this.dataset.detect, {
        method: "POST",
        body: new FormData(this.form),
        headers: { "X-CSRFToken": token },
        signal,
      });
      if (!answer.ok) throw new Error(answer.statusText);
      const { found, cause, at } = await answer.json();
      this.running = undefined;
      if (found) this.#apply({ ...found, at });
      else this.#explain(cause);
    } catch (error) {
      if (signal.aborted) return;
      this.say(`Detection failed: ${error.message || "the playground did not respond"}.`);
    } finally {
      if (!signal.aborted) this.running = undefined;
      this.#showDetection();
    }
  }

  #stop() {
    if (!this.running) return;
    this.running.abort();
    this.running = undefined;
    this.say("Detection cancelled.");
    this.#showDetection();
  }

  #apply(found) {
    const moved = !isSameUrl(found.url, this.fields.address.value);
    this.switchTo(found);
    this.say(`Detected: ${found.label}${moved ? ` at ${found.url}` : ""}.`);
  }

  #explain({ headline, fix, facts, url, authenticate, auth }) {
    const list = facts
      .filter(([label]) => label === "Path" || label.startsWith("Where"))
      .map(([label, value]) => make("li", {}, `${label}: ${value}`));
    const use = make("button", { type: "button", className: "btn btn-small" }, `Use ${url}`);
    use.addEventListener("click", () => {
      this.say();
      this.setUrl(url);
      this.input.focus();
    });
    this.say(
      make("strong", {}, headline),
      ` ${fix} `,
      ...(url ? [use] : []),
      ...(authenticate
        ? [
            make(
              "a",
              { className: "btn btn-small", href: `${this.#newAgent({ auth })}#id_auth` },
              authenticate,
            ),
          ]
        : []),
      ...(list.length ? [make("ul", {}, ...list)] : []),
    );
  }

  // The combobox (ARIA 1.2, with a list and without completion in the field)

  #listenToCombobox() {
    const { input, list } = this;
    input.addEventListener("focus", () => input.select());
    // A request must not go to the agent of before.
    const guard = (event) => {
      this.commit();
      if (!input.hasAttribute("aria-invalid")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      input.focus();
    };
    this.form.addEventListener("submit", guard, { capture: true });
    input.addEventListener("input", () => {
      this.say();
      input.removeAttribute("aria-invalid");
      this.#open(input.value);
      const typed = typedUrl(input.value);
      if (typed && !this.#exact(input.value)) this.setUrl(typed.url);
    });
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("click", () => list.hidden && this.#open(""));
    input.addEventListener("focusout", () => {
      this.#close();
      this.commit();
    });
    this.querySelector("[data-target-open]").addEventListener("click", () => {
      const wasOpen = !list.hidden;
      input.focus();
      if (wasOpen) this.#close();
      else this.#open("");
    });
    // The field keeps the focus while an option is chosen.
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.querySelector("[data-target-open]").addEventListener("pointerdown", (e) => e.preventDefault());
    list.addEventListener("click", ({ target }) => this.#choose(target.closest("[role='option']")));
  }

  #agents() {
    return [...this.fields.agent.options]
      .filter(({ value }) => value)
      .map(({ value, text, dataset }) => ({ slug: value, name: text, url: dataset.url, note: dataset.note }));
  }

  #exact(text) {
    const wanted = text.trim().toLowerCase();
    return this.#agents().find(({ name }) => name.toLowerCase() === wanted);
  }

  #open(text) {
    const rows = matching(this.#agents(), text);
    this.list.replaceChildren(
      ...rows.map((each, index) => row(each, index, each.slug === this.fields.agent.value)),
    );
    this.#activate(text.trim() && !typedUrl(text) ? this.list.firstElementChild : null);
    this.list.hidden = !rows.length;
    this.input.setAttribute("aria-expanded", String(rows.length > 0));
  }

  #close() {
    this.list.hidden = true;
    this.#activate(null);
    this.input.setAttribute("aria-expanded", "false");
  }

  #activate(option) {
    for (const each of this.list.children) each.toggleAttribute("data-active", each === option);
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    const options = [...this.list.children];
    const at = options.findIndex((each) => each.hasAttribute("data-active"));
    const isOpen = !this.list.hidden;
    if (event.key === "Enter") {
      if (event.metaKey || event.ctrlKey) {
        this.#close();
        this.commit();
        return;
      }
      if (isOpen && at >= 0) this.#choose(options[at]);
      else this.commit();
      this.#close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!isOpen) this.#open("");
      const rows = [...this.list.children];
      const step = event.key === "ArrowDown" ? 1 : -1;
      const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : (at + step + rows.length) % rows.length;
      if (!event.altKey) this.#activate(rows[next]);
    } else if (event.key === "Escape" && (isOpen || this.input.value !== this.#shown())) {
      this.show();
      this.say();
      this.input.select();
      this.#close();
      event.stopPropagation();
    } else return;
    event.preventDefault();
  }

  /** What the field shows of the target. */
  #shown() {
    return this.agent ? this.agent.text : this.url;
  }

  #choose(option) {
    if (!option) return;
    this.#close();
    chooseAgent(option.dataset.agent);
    this.input.select();
  }

  /** Takes what was typed: the name of an agent, or a URL. Anything else stays, as an error. */
  commit() {
    const text = this.input.value.trim();
    if (text === this.#shown()) return;
    const exact = this.#exact(text);
    if (exact) {
      chooseAgent(exact.slug);
      return;
    }
    const typed = typedUrl(text);
    if (typed) {
      this.input.value = typed.url;
      this.setUrl(typed.url);
      if (typed.hadCredentials)
        this.say("User name and password were removed from the URL. Set them under Auth.");
    } else if (text && !isCommand(text)) {
      this.say(`No agent matches “${text}”. Enter a URL, such as http://localhost:8000.`);
      this.input.setAttribute("aria-invalid", "true");
      return;
    }
    this.input.value = this.#shown();
  }

  // The menu

  #listenToMenu() {
    const { chip, menu } = this;
    const close = (focus) => {
      menu.hidden = true;
      chip.setAttribute("aria-expanded", "false");
      if (focus) chip.focus();
    };
    chip.addEventListener("click", () => {
      const isOpening = menu.hidden;
      menu.hidden = !isOpening;
      chip.setAttribute("aria-expanded", String(isOpening));
      if (isOpening) menu.querySelector("select:not(:disabled), a").focus();
    });
    for (const part of [chip, menu])
      part.addEventListener("keydown", (event) => {
        if (event.key !== "Escape" || menu.hidden) return;
        event.stopPropagation();
        close(true);
      });
    menu.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !menu.contains(relatedTarget) && relatedTarget !== chip) close(false);
    });
    document.addEventListener("pointerdown", ({ target }) => {
      if (!menu.hidden && !menu.contains(target) && !chip.contains(target)) close(false);
    });
  }
}

function row({ slug, name, url, note }, index, isChosen) {
  const option = make(
    "li",
    { id: `target-option-${index}`, role: "option", "aria-selected": String(isChosen) },
    make("span", { className: "target-option-name" }, name),
    make("span", { className: "target-option-note" }, note),
    make("span", { className: "target-option-url mono" }, url),
  );
  option.dataset.agent = slug;
  return option;
}

/** Shows at the effective request, and where a link opened it, which origin it is sent to. */
function showOrigin(address) {
  const { origin: parsed = "" } = URL.canParse(address) ? new URL(address) : {};
  // Of an address that no request can go to ("data:…") the origin is the word "null".
  const origin = parsed && parsed !== "null" ? parsed : address.split("/")[0];
  for (const place of document.querySelectorAll("[data-origin]")) place.textContent = origin || "none";
}

/** Stores the request and shows the composer of another protocol; returns its request. */
function exchange(form, protocol, version) {
  const { document: area, version: select } = form.elements;
  const old = { protocol: form.dataset.protocol, document: area.value };
  const key = (name) => `document.${form.dataset.tab}.${name}`;
  remember(key(old.protocol), area.value, sessionStorage);
  showProtocol(form, protocol, version);
  const kept = recall(key(protocol), sessionStorage);
  return kept === null ? translated(old, protocol, select.value) : versioned(kept, select.value);
}

/** Chooses an agent by its slug. */
export function chooseAgent(slug) {
  const select = document.getElementById("agent-select");
  select.value = slug;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Puts the focus into the field of the target. */
export function focusTarget() {
  document.querySelector("work-bench").show("compose");
  document.getElementById("target-input").focus();
}

customElements.define("target-bar", TargetBar);
