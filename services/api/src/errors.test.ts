import { ERROR_CODES, ERROR_FACTS, ProblemDetails } from "@shiftwork/contracts";
import { expect, test } from "vitest";
import { HTTP_STATUS, HttpProblem, problemDetails } from "./errors.ts";
import { translateError } from "./plugins/translate-error.ts";

const context = { instance: "/x", requestId: "req_1", traceId: null };

test("every error code has an HTTP status and facts, and no other has", () => {
  expect(Object.keys(HTTP_STATUS).sort()).toEqual([...ERROR_CODES].sort());
  expect(Object.keys(ERROR_FACTS).sort()).toEqual([...ERROR_CODES].sort());
});

test.each(ERROR_CODES)("%s is a problem as the contract describes it", (code) => {
  const details = problemDetails(new HttpProblem(code, "detail"), context);
  expect(ProblemDetails.parse(details)).toEqual(details);
  expect(details.status).toBe(HTTP_STATUS[code]);
});

test("an unknown error never shows its message", () => {
  const details = problemDetails(translateError(new Error("select secret from table")), context);
  expect(details.code).toBe("INTERNAL");
  expect(JSON.stringify(details)).not.toContain("secret");
});

test("a database that is away is temporary", () => {
  for (const code of ["ECONNREFUSED", "CONNECTION_CLOSED", "57P01", "57P03", "08006", "53300"]) {
    const problem = translateError(Object.assign(new Error("x"), { code }));
    expect([problem.code, problem.retryAfterSeconds]).toEqual(["SERVICE_UNAVAILABLE", 1]);
  }
});
