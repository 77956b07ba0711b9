import { createApiClient, type ApiClient } from "./api-client.ts";
import type { FaultSchedule } from "./fault-schedule.ts";
import type { Followed } from "./followed.ts";
import type { ChaosOptions } from "./options.ts";
import { planTurn } from "./plan-turn.ts";
import { runTurn, type Conversation } from "./run-turn.ts";

/** What the clients of all tenants saw. */
export interface Driven {
  readonly followed: readonly Followed[];
  readonly surprises: readonly string[];
  readonly knowsOnBusy: boolean;
}

export interface DriveOptions {
  readonly options: ChaosOptions;
  readonly apiUrls: readonly string[];
  /** One key per tenant; the first tenant is the noisy one. */
  readonly apiKeys: readonly string[];
  readonly schedule: FaultSchedule;
}

/** More clients than slots, so that generations wait in line as well. */
const CLIENTS_PER_SLOT = 1.25;
/** Turns of one chat before its client starts another. */
const TURNS_PER_CHAT = 5;

/** Sends all turns, many at a time, each client one after the other, and returns when all have ended. */
export async function drive({ options, apiUrls, apiKeys, schedule }: DriveOptions): Promise<Driven> {
  const followed: Followed[] = [];
  const surprises: string[] = [];
  const knowsOnBusy = await mentionsOnBusy(apiUrls[0] ?? "");
  let nextTurn = 0;

  async function beClient(client: number): Promise<void> {
    const tenant = tenantOf(client, apiKeys.length);
    const api = createApiClient(apiUrls, apiKeys[tenant] ?? "");
    for (let turns = 0; nextTurn < options.generations; turns = 0) {
      const talk: Conversation = { api, tenant, chatId: await newChat(api), knowsOnBusy, followed, surprises };
      let isFree = true;
      while (isFree && nextTurn < options.generations && turns < TURNS_PER_CHAT) {
        const number = (nextTurn += 1);
        turns += 1;
        await schedule.reached(number);
        isFree = await runTurn(talk, planTurn(options.seed, number)).catch((error: unknown) => {
          surprises.push(`turn ${number}: ${error instanceof Error ? error.message : String(error)}`);
          return false;
        });
      }
    }
  }
  const clients = Math.ceil(options.workers * options.slots * CLIENTS_PER_SLOT);
  await Promise.all(Array.from({ length: clients }, (_, client) => beClient(client)));
  return { followed, surprises, knowsOnBusy };
}

/** Half of all clients belong to the first tenant, the others share the rest. */
function tenantOf(client: number, tenants: number): number {
  return client % 2 === 0 ? 0 : 1 + (((client - 1) / 2) % (tenants - 1));
}

async function newChat(api: ApiClient): Promise<string> {
  const { status, body } = await api.call("POST", "/chats", { body: {} });
  if (status !== 201 || body.id === undefined) throw new Error(`a chat was answered ${status} ${JSON.stringify(body)}`);
  return body.id;
}

async function mentionsOnBusy(url: string): Promise<boolean> {
  const response = await fetch(`${url}/openapi.json`);
  return (await response.text()).includes('"onBusy"');
}
