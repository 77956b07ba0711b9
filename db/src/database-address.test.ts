import { expect, it } from "vitest";
import { databaseAddress } from "./database-address.ts";

const URL_BY_TCP = "postgres://user:pa%2Fss@127.0.0.1:6543/shiftwork?sslmode=disable";

it("leaves a URL without a socket's folder as it is, also one that is none", () => {
  for (const url of [URL_BY_TCP, "postgres://db/x?host=elsewhere", "nonsense"])
    expect(databaseAddress(url)).toEqual({ url });
});

it("finds the socket in the folder that the URL names, by its port", () => {
  expect(databaseAddress(`${URL_BY_TCP}&host=%2Frun%2Fpostgresql`)).toEqual({
    url: URL_BY_TCP,
    path: "/run/postgresql/.s.PGSQL.6543",
  });
  expect(databaseAddress("postgres://db/x?host=/tmp").path).toBe("/tmp/.s.PGSQL.5432");
});
