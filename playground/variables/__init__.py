"""Variables: `{{name}}` in a request, and the values that replace it. Pure.

A name is 1 to 80 letters, digits, `_`, `-` and `.`, with optional spaces around it. Anything
else (`{{ two words }}`, `{{}}`) is ordinary text and stays.

- **One pass.** A `{{x}}` within a value is not replaced.
- A string that is nothing but one placeholder becomes the value, of any JSON type. Anywhere
  else, also in the names of an object and in headers, the value's text is inserted.
- **Built-in names** begin with `$`: `{{$uuid}}` is new for every occurrence, `{{$timestamp}}` is
  the time in Unix seconds, `{{$isoTimestamp}}` the same in ISO 8601, and `{{$braces}}` is `{{`,
  for a text with two literal braces.
- **Secrets** are separated: every result has two forms, the wire form and the stored form, and
  the latter has the placeholder of a secret instead of its value.
"""
