// The live view of a run.

import "./cursor.js";
import "./elapsed-time.js";
import "./paged-list.js";
import "./patch.js";
import "./raw-json.js";
import "./refreshed-part.js";
