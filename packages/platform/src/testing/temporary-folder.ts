import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder for throw-away servers. Open to others, because root's server runs as another user. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "shiftwork-test-"));
  chmodSync(folder, 0o755);
  return folder;
}
