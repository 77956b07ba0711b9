import { decodeId } from "@shiftwork/contracts";
import { claimRun, endRun } from "./act-as-worker.ts";
import type { ApiUnderTest, TestTenant } from "./api-under-test.ts";

/** Sends a turn in a chat of its own; answers with the ids of both. */
export async function sendTurn(
  api: ApiUnderTest,
  tenant: TestTenant,
  turn: { readonly [field: string]: unknown } = {},
  headers: { readonly [name: string]: string } = {},
): Promise<{ readonly chat: string; readonly generation: string }> {
  const { "x-owner-id": owner } = headers;
  const owned = owner === undefined ? {} : { "x-owner-id": owner };
  const chat = (await api.call("POST", "/api/v2/chats", { key: tenant.key, body: {}, headers: owned })).body.id;
  const body = { message: "Hi", ...turn };
  const sent = await api.call("POST", `/api/v2/chats/${chat}/generations`, { key: tenant.key, body, headers });
  if (sent.status !== 202) throw new Error(JSON.stringify(sent.body));
  return { chat, generation: sent.body.id };
}

/** Sends a turn and lets its run fail at the provider: an open dead letter with this fingerprint. */
export async function failedTurn(
  api: ApiUnderTest,
  tenant: TestTenant,
  fingerprint: string,
  headers: { readonly [name: string]: string } = {},
): Promise<string> {
  const { generation } = await sendTurn(api, tenant, {}, headers);
  await endRun(api, await claimRun(api, tenant, generation), "failed", "");
  await api.worker.client`
    update generations set error_fingerprint = ${fingerprint}, dead_letter = 'open'
    where id = ${decodeId("generation", generation) ?? ""}
  `;
  return generation;
}
