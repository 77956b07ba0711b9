import { expect, it } from "vitest";
import { outcomeOf } from "./outcome.ts";
import { DatabaseAwayError, whileDatabaseIsAway } from "./while-database-is-away.ts";

const patience = { tries: 4, pauseMs: 1 };
const lost = () => Object.assign(new Error("the connection is gone"), { code: "CONNECTION_CLOSED" });

/** Fails so often, then writes. */
function failing(times: number, error: () => Error) {
  let left = times;
  return async () => {
    left -= 1;
    if (left >= 0) throw error();
    return "written";
  };
}

const socketGone = () => Object.assign(new Error("connect ENOENT /data/.s.PGSQL.5432"), { code: "ENOENT" });

it.each([
  ["by TCP", lost],
  ["by a socket that a stopped server takes with it", socketGone],
])("a write is tried again until the database is back, reached %s", async (_, error) => {
  expect(await whileDatabaseIsAway(failing(3, error), patience)).toBe("written");
});

it("a run whose database does not come back gives way: it is not the reply's failure", async () => {
  const error: unknown = await whileDatabaseIsAway(failing(4, lost), patience).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DatabaseAwayError);
  expect(outcomeOf(error)).toEqual({ kind: "fenced" });
});

it("what the database refuses is not tried again", async () => {
  const refused = () => Object.assign(new Error("refused"), { code: "23505" });
  await expect(whileDatabaseIsAway(failing(1, refused), patience)).rejects.toThrow("refused");
});
