import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

/** The password in `file`; made on first use, 144 random bits, safe in a URL, readable by the owner alone. */
export function secretIn(file: string): string {
  try {
    writeFileSync(file, `${randomBytes(18).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readFileSync(file, "utf8").trim();
}
