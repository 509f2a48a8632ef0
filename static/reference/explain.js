// Explanations of names, for elements with `data-explain` and JSON with `data-explain-document`. This
// part only notices the first demand; the popover is loaded then.

const PLACES = "[data-explain], [data-explain-document], .code-host";
/** Not "pointerover", which a name that arrives under a resting mouse has, too. */
const DEMANDS = ["pointermove", "focusin", "click"];
let loading = null;

function load() {
  loading ??= import(document.body.dataset.explanations).then(
    (module) => {
      for (const type of DEMANDS) document.removeEventListener(type, demand);
      module.start(document.body.dataset.explanationsStyle);
      return module;
    },
    (error) => {
      loading = null; // the playground is away; the next demand tries again
      throw error;
    },
  );
  return loading;
}

async function demand(event) {
  if (!event.target.closest?.(PLACES)) return;
  try {
    const { notice } = await load();
    notice(event);
  } catch (error) {
    console.warn("The explanations could not be loaded.", error);
  }
}

/** Explains what has the focus, in a popover that stays. */
export async function explainFocused() {
  try {
    const { pinFocused } = await load();
    await pinFocused();
  } catch (error) {
    console.warn("The explanations could not be loaded.", error);
  }
}

if (document.body.dataset.explanations)
  for (const type of DEMANDS) document.addEventListener(type, demand, { passive: true });
