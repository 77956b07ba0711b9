/**
 * Case files write long inputs short: `{"$repeat":[text, n]}`, `{"$concat":[…]}`, `{"$json": value}` and
 * `{"$seq":[n, template]}`, n copies of a template in which `{i}`, `{i+1}`, `{i-1}` are numbers.
 */
export function expand(value) {
  if (Array.isArray(value)) return value.flatMap((item) => (isSequence(item) ? expand(item) : [expand(item)]));
  if (typeof value !== "object" || value === null) return value;
  const [key, ...others] = Object.keys(value);
  if (others.length === 0 && Object.hasOwn(FORMS, key ?? "")) return FORMS[key](value[key]);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expand(member)]));
}

const FORMS = {
  $repeat: ([text, times]) => String(expand(text)).repeat(times),
  $concat: (parts) => parts.map((part) => String(expand(part))).join(""),
  $json: (member) => JSON.stringify(expand(member)),
  $seq: ([count, template]) => Array.from({ length: count }, (_, index) => expand(numbered(template, index))),
};

function isSequence(item) {
  return typeof item === "object" && item !== null && Object.hasOwn(item, "$seq");
}

function numbered(value, index) {
  if (typeof value === "string") {
    return value
      .replaceAll("{i}", index)
      .replaceAll("{i+1}", index + 1)
      .replaceAll("{i-1}", index - 1);
  }
  if (Array.isArray(value)) return value.map((item) => numbered(item, index));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, numbered(member, index)]));
}
