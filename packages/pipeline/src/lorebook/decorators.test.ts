import { expect, it } from "vitest";
import { readDecorators } from "./decorators.ts";

it.each([
  ["plain", "plain", null],
  ["@@activate\nbody", "body", "activate"],
  ["@@dont_activate\nbody", "body", "dont_activate"],
  ["@@dont_activate\n@@activate\nbody", "body", "activate"],
  ["@@unknown 4\n@@@activate\n\nbody", "body", "activate"],
  ["@@dont_activate\n@@@activate\nbody", "body", "dont_activate"],
  ["@@depth 2\nbody\n@@activate", "body\n@@activate", null],
  ["@@ not a decorator", "@@ not a decorator", null],
])("reads %j", (written, content, force) => {
  expect(readDecorators(written)).toEqual({ content, force });
});
