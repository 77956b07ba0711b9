import type { Database } from "@shiftwork/db";

/**
 * Has the database itself write down every change of a generation's status, whoever makes it: what happened is then known
 * even where the row shows only how it came out.
 */
export async function recordTransitions({ client }: Database): Promise<void> {
  await client.begin(async (tx) => {
    await tx`set local role none`;
    await tx`create schema chaos`;
    await tx`
      create table chaos.transitions (
        id bigint generated always as identity primary key,
        generation_id uuid not null,
        old_status text,
        new_status text not null,
        cancel_requested boolean not null
      )
    `;
    await tx`
      create function chaos.record_transition() returns trigger language plpgsql security definer as $$
      begin
        insert into chaos.transitions (generation_id, old_status, new_status, cancel_requested)
        values (new.id, case when tg_op = 'UPDATE' then old.status end, new.status, new.cancel_requested_at is not null);
        return null;
      end $$
    `;
    await tx`
      create trigger record_insert after insert on generations
      for each row execute function chaos.record_transition()
    `;
    await tx`
      create trigger record_update after update on generations for each row
      when (old.status is distinct from new.status or old.fence <> new.fence)
      execute function chaos.record_transition()
    `;
  });
}
