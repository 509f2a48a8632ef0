// The live view of a run.

import "./count-down.js";
import "./cursor.js";
import "./elapsed-time.js";
import "./final-part.js";
import "./frame-link.js";
import "./marked-event.js";
import "./paged-list.js";
import "./patch.js";
import "./raw-json.js";
import "./refreshed-part.js";
import "./sequence.js";
import "./session-history.js";
import "./wire-view.js";
