// Moments in the time zone of the reader, in the format of the server.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.HTMLElement ??= class {};
globalThis.customElements ??= { define() {} };
globalThis.document ??= { addEventListener() {} };
const { inLocalTime } = await import("../../static/site/local-time.js");

const moment = "2026-03-29T00:30:05.123456+00:00";
const text = "29 March 2026, 00:30:05";
const cases = [
  [moment, "UTC", text],
  // The hours before and after the change to summer time.
  [moment, "Europe/Oslo", "29 March 2026, 01:30:05"],
  ["2026-03-29T01:30:05Z", "Europe/Oslo", "29 March 2026, 03:30:05"],
  [moment, "America/New_York", "28 March 2026, 20:30:05"],
  ["2026-12-31T23:45:00+02:00", "Asia/Kathmandu", "1 January 2027, 03:30:00"],
];

for (const [value, zone, expected] of cases)
  test(`${value} in ${zone}`, () => {
    assert.equal(inLocalTime(value, text, zone), expected);
  });

test("a text without seconds stays without them", () => {
  assert.equal(inLocalTime(moment, "29 March 2026, 00:30", "UTC"), "29 March 2026, 00:30");
});

test("the zone is that of the reader where none is named", () => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  assert.equal(inLocalTime(moment, text), inLocalTime(moment, text, timeZone));
});
