import type { GenerationStatus } from "@shiftwork/contracts";
import { sql } from "kysely";
import type { Db } from "../transaction.ts";

/** An active generation as whoever looks after it across tenants sees it. */
export interface HeldRun {
  readonly tenantId: string;
  readonly generationId: string;
  readonly chatId: string | null;
  readonly status: GenerationStatus;
  readonly fence: number;
  readonly epoch: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly cancelRequested: boolean;
}

const HELD_RUN = sql`
  tenant_id as "tenantId", id as "generationId", chat_id as "chatId", status, fence, epoch, attempts,
  max_attempts as "maxAttempts", cancel_requested_at is not null as "cancelRequested"
`;

/** The runs the database says this worker holds. */
export async function findRunsOfWorker(db: Db, workerId: string): Promise<readonly HeldRun[]> {
  const { rows } = await sql<HeldRun>`
    select ${HELD_RUN} from generations where worker_id = ${workerId} and status = 'running'
  `.execute(db);
  return rows;
}

/** Runs whose worker has not been heard of for `deadAfterMs`. */
export async function findRunsOfDeadWorkers(db: Db, deadAfterMs: number, limit: number): Promise<readonly HeldRun[]> {
  const { rows } = await sql<HeldRun>`
    select ${HELD_RUN} from generations
    where status = 'running' and not exists (
      select from workers
      where workers.id = generations.worker_id
        and heartbeat_at > now() - make_interval(secs => ${deadAfterMs / 1000})
    )
    limit ${limit}
  `.execute(db);
  return rows;
}

/** Active generations past their deadline by more than `graceMs`; a running one's worker ends it itself before that. */
export async function findPastDeadline(db: Db, graceMs: number, limit: number): Promise<readonly HeldRun[]> {
  const { rows } = await sql<HeldRun>`
    select ${HELD_RUN} from generations
    where (status = 'queued' and deadline_at < now())
       or (status = 'running' and deadline_at < now() - make_interval(secs => ${graceMs / 1000}))
    limit ${limit}
  `.execute(db);
  return rows;
}
