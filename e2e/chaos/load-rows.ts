import type { Database } from "@shiftwork/db";

/** What the database says when everything has ended, over all tenants. Ids are UUIDs. */
export interface Rows {
  readonly generations: readonly GenerationFacts[];
  readonly transitions: readonly Transition[];
  readonly messages: readonly MessageFacts[];
  readonly attempts: readonly AttemptFacts[];
  readonly terminalEvents: readonly { readonly generationId: string; readonly status: string }[];
  /** Generations with an audit that is still `prepared`. */
  readonly preparedAudits: readonly string[];
  /** Messages of turns that ended while they waited for their place: a retry puts them into the chat. */
  readonly messagesKeptForRetry: readonly string[];
}

export interface GenerationFacts {
  readonly id: string;
  readonly tenantId: string;
  readonly chatId: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly cancelRequested: boolean;
  readonly outputMessageId: string | null;
  readonly retryOf: string | null;
  /** How long it waited for its first claim, in milliseconds; `null` = never claimed. */
  readonly waitMs: number | null;
  /** From the accepted cancel to the end, in milliseconds. */
  readonly cancelMs: number | null;
  /** How long after its deadline it ended, in milliseconds; negative = before it. */
  readonly lateMs: number | null;
}

export interface Transition {
  readonly generationId: string;
  readonly from: string | null;
  readonly to: string;
  readonly cancelRequested: boolean;
}

export interface MessageFacts {
  readonly id: string;
  readonly chatId: string;
  readonly branch: number;
  readonly seq: number;
  readonly variant: number;
  readonly active: boolean;
  readonly role: string;
  readonly content: string;
  readonly partial: boolean;
  readonly generationId: string | null;
}

export interface AttemptFacts {
  readonly generationId: string;
  readonly outcome: string | null;
  readonly errorCode: string | null;
  readonly open: boolean;
}

export function loadRows({ client }: Database): Promise<Rows> {
  return client.begin(async (tx) => {
    await tx`set local role none`;
    return {
      generations: await tx<GenerationFacts[]>`
        select id, tenant_id as "tenantId", chat_id as "chatId", status, error_code as "errorCode", attempts,
          max_attempts as "maxAttempts", cancel_requested_at is not null as "cancelRequested",
          output_message_id as "outputMessageId", retry_of as "retryOf",
          extract(epoch from started_at - created_at)::float8 * 1000 as "waitMs",
          extract(epoch from finished_at - cancel_requested_at)::float8 * 1000 as "cancelMs",
          extract(epoch from finished_at - deadline_at)::float8 * 1000 as "lateMs"
        from generations order by id
      `,
      transitions: await tx<Transition[]>`
        select generation_id as "generationId", old_status as "from", new_status as "to",
          cancel_requested as "cancelRequested"
        from chaos.transitions order by id
      `,
      messages: await tx<MessageFacts[]>`
        select id, chat_id as "chatId", branch, seq, variant, active, role, content, partial,
          generation_id as "generationId"
        from messages order by chat_id, branch, seq, variant
      `,
      attempts: await tx<AttemptFacts[]>`
        select generation_id as "generationId", outcome, error_code as "errorCode", ended_at is null as open
        from generation_attempts
      `,
      terminalEvents: await tx<{ generationId: string; status: string }[]>`
        select generation_id as "generationId", data->>'status' as status from generation_events
        where type in ('generation.completed', 'generation.failed', 'generation.cancelled')
      `,
      preparedAudits: (
        await tx<{ id: string }[]>`select generation_id as id from prompt_context_audits where slot = 'prepared'`
      ).map(({ id }) => id),
      messagesKeptForRetry: (
        await tx<{ content: string }[]>`
          select pending_message->>'content' as content
          from generation_contents join generations
            on generations.tenant_id = generation_contents.tenant_id and id = generation_id
          where pending_message is not null and status in ('failed', 'cancelled')
        `
      ).map(({ content }) => content),
    };
  });
}
