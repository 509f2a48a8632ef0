// Everything that the page runs. Elements start themselves when they appear.

import "./toasts.js";
import "./draft.js";
import "./tabs.js";
import "./copy-button.js";
import "./json-field.js";
import "./json-rows.js";
import "./header-rows.js";
import "./json-editor.js";
import "./composer.js";
import "./target.js";
import "./problems.js";
import "./pane-splitter.js";
import "./work-bench.js";
import "./commands.js";
import "./command-palette.js";
import "./highlight.js";
import "./event-detail.js";
import "./pictures.js";
import "./scrollable.js";
import "./agent-form.js";
import "./wait-clock.js";
import "./connection.js";
import "./history.js";
import "./action-desk.js";
import "./live/index.js";
