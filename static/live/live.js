// The live view of a run.

import "./count-down.js";
import "./run-connection.js";
import "./elapsed-time.js";
import "./final-part.js";
import "./frame-link.js";
import "./marked-event.js";
import "./paged-list.js";
import "./patch.js";
import "../conversation/raw-json.js";
import "./refreshed-part.js";
import "../wire/sequence.js";
import "../wire/session.js";
import "../wire/wire-view.js";
