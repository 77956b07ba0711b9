import { describe, expect, it } from "vitest";
import { readBody } from "./read-body.ts";

describe("readBody", () => {
  it("stops reading at the limit", async () => {
    let pulled = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        pulled += 1;
        yield Buffer.from("0123456789");
      }
    }
    expect(await readBody(endless(), 25)).toEqual({ text: "0123456789012345678901234", isCut: true });
    expect(pulled).toBe(3);
  });

  it("reads a body of exactly the limit whole", async () => {
    async function* two(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("é").subarray(0, 1);
      yield Buffer.from("é").subarray(1);
    }
    expect(await readBody(two(), 2)).toEqual({ text: "é", isCut: false });
  });
});
