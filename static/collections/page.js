// What only the pages of collections need.

import "./form-sheet.js";
import "./row-menu.js";
import "./sort-list.js";
