import type { GenerationStatus } from "@shiftwork/contracts";
import { sql } from "kysely";
import type { Db, Tx } from "../transaction.ts";
import { lockChat } from "./chat-revision.ts";

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

/**
 * Locks a run and its chat for the rest of the transaction: from here on its worker, should it still live, can stream
 * nothing more, so that what is read of the event log is all there will be. False = it is not in that state any more.
 */
export async function lockHeldRun(tx: Tx, run: HeldRun): Promise<boolean> {
  if (run.chatId !== null) await lockChat(tx, run.tenantId, run.chatId);
  const { rows } = await sql`
    select from generations
    where tenant_id = ${run.tenantId} and id = ${run.generationId}
      and status = ${run.status} and fence = ${run.fence} and epoch = ${run.epoch}
    for update
  `.execute(tx);
  return rows.length > 0;
}

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
