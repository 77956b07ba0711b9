import { readFileSync, writeFileSync } from "node:fs";
import { envExample } from "@shiftwork/platform";
import { expect, it } from "vitest";
import { z } from "zod";
import { ApiConfig } from "../services/api/src/config.ts";
import { WorkerConfig } from "../services/worker/src/config.ts";

/** Both services read one file, so a setting that both know stands in it once. */
const Settings = z.object({ ...ApiConfig.shape, ...WorkerConfig.shape });
const HEAD =
  "# Settings of the API and the worker. Everything commented out shows its default. NAME_FILE reads NAME from a file.\n";

it(".env.example lists every setting with its meaning and default (UPDATE=1 writes it)", () => {
  const file = new URL("../.env.example", import.meta.url);
  const expected = `${HEAD}\n${envExample(Settings)}`;
  if (process.env["UPDATE"] === "1") writeFileSync(file, expected);
  expect(readFileSync(file, "utf8")).toBe(expected);
});
