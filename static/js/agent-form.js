// <agent-form>: of the authentication fields, shows those that the chosen kind uses. Rows say
// so with data-auth="bearer basic"; without this module all of them are shown.

class AgentForm extends HTMLElement {
  connectedCallback() {
    const select = this.querySelector('[name="auth"]');
    const show = () => {
      for (const row of this.querySelectorAll("[data-auth]")) {
        row.hidden = !row.dataset.auth.split(" ").includes(select.value);
      }
    };
    select.addEventListener("change", show);
    show();
  }
}

customElements.define("agent-form", AgentForm);
