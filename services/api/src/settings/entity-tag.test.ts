import { expect, test } from "vitest";
import { entityTag, requireMatch } from "./entity-tag.ts";

const body = { object: "settings", model: "gpt-4o" };
const match = (header: string | undefined) =>
  requireMatch({ headers: header === undefined ? {} : { "if-match": header } }, body);

test("the same content has the same tag whatever the order of its keys, other content has another", () => {
  expect(entityTag({ model: "gpt-4o", object: "settings" })).toBe(entityTag(body));
  expect(entityTag({ ...body, model: "gpt-4" })).not.toBe(entityTag(body));
  expect(entityTag(body)).toMatch(/^"[\w-]+"$/);
});

test("no condition, the current tag, a list with it and a star go through", () => {
  for (const header of [undefined, entityTag(body), `"old", ${entityTag(body)}`, "*"]) {
    expect(() => match(header), header).not.toThrow();
  }
});

test("another tag is refused, and so is a weak one", () => {
  for (const header of ['"old"', `W/${entityTag(body)}`, ""]) {
    expect(() => match(header), header).toThrow(expect.objectContaining({ code: "PRECONDITION_FAILED" }));
  }
});
