// <agent-form>: shows what applies to the chosen protocol, binding and authentication. Parts say
// so with data-when="protocol=nlweb auth=bearer|basic"; without this module all of them are shown.

class AgentForm extends HTMLElement {
  connectedCallback() {
    const { elements } = this.querySelector("form");
    const holds = (condition) => {
      const [name, values] = condition.split("=");
      return values.split("|").includes(elements[name].value);
    };
    const show = () => {
      for (const part of this.querySelectorAll("[data-when]")) {
        part.hidden = !part.dataset.when.split(" ").every(holds);
        if (part instanceof HTMLOptGroupElement) part.disabled = part.hidden;
      }
      const { version } = elements;
      if (version.selectedOptions[0]?.parentElement.disabled)
        version.value = [...version.querySelectorAll("optgroup:not([hidden]) option")].at(-1)?.value;
    };
    this.addEventListener("change", show);
    show();
  }
}

customElements.define("agent-form", AgentForm);
