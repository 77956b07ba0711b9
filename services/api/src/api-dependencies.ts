import type { HealthObject } from "@shiftwork/contracts";
import type { Db } from "@shiftwork/db";
import type { EventLog, LoadedPlugins, Logger, Queue, Tokenizers } from "@shiftwork/platform";
import type { HttpProblem } from "./errors.ts";
import type { Previewer } from "./preview/previewer.ts";
import type { StreamRegistry } from "./events/stream-registry.ts";

/** What the API is made of; `main.ts` opens it, tests bring their own. */
export interface ApiDependencies {
  readonly db: Db;
  /** As `shiftwork_admin`: what goes across tenants, for admin keys and loops only. */
  readonly adminDb: Db;
  /** The API takes waiting jobs out, and puts in what nobody has to wait for; all other dispatching is the worker's. */
  readonly queue: Pick<Queue, "add" | "remove">;
  readonly eventLog: EventLog;
  readonly streams: StreamRegistry;
  readonly logger: Logger;
  /** Keys API-key hashes. */
  readonly pepper: string;
  /** Shown by `/api/v2/version`. */
  readonly version: string;
  /** The same in API and workers, or a preview would not be its generation. */
  readonly plugins: LoadedPlugins;
  /** Tokenizers that tenants brought. */
  readonly tokenizers: Tokenizers;
  readonly previewer: Pick<Previewer, "preview">;
  /** Why the API is not ready, or `null`: database, migrations, draining. */
  readonly readiness: () => Promise<HttpProblem | null>;
  /** For `/api/v2/health`. */
  readonly health: () => Promise<HealthObject>;
  /** Looks for bulk actions at once. */
  readonly wakeBulkActions: () => void;
  /** A worker silent for this long is dead, in milliseconds. */
  readonly deadAfterMs: number;
  /** Silence after which a stream sends a comment, in milliseconds. Default 10,000. */
  readonly heartbeatMs?: number;
}
