import { setTimeout as delay } from "node:timers/promises";

export interface Answer {
  readonly status: number;
  readonly body: AnswerBody;
}

/** The fields of any answer that the suite looks at. */
export interface AnswerBody {
  readonly id?: string;
  readonly code?: string;
  readonly status?: string | number;
  readonly params?: { readonly generationId?: string };
}

export interface CallOptions {
  readonly body?: object;
  readonly idempotencyKey?: string;
}

/** A client as a careful product writes it: it repeats what was not answered, at the next API process. */
export interface ApiClient {
  /** Rejects only when nobody has answered for longer than any fault lasts. */
  call(method: "GET" | "POST", path: string, options?: CallOptions): Promise<Answer>;
  /** One connection to an event stream; may reject, may break off. */
  openStream(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
}

const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;
const REQUEST_TIMEOUT_MS = 15_000;

/** A client of the tenant that `apiKey` belongs to, over all of `urls` in turn. */
export function createApiClient(urls: readonly string[], apiKey: string): ApiClient {
  let turn = Math.floor(urls.length / 2);
  const next = (): string => urls[(turn += 1) % urls.length] ?? "";
  const authorization = `Bearer ${apiKey}`;

  async function callOnce(method: string, path: string, { body, idempotencyKey }: CallOptions): Promise<Answer> {
    const response = await fetch(`${next()}/api/v2${path}`, {
      method,
      headers: {
        authorization,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as AnswerBody };
  }

  return {
    async call(method, path, options = {}) {
      const giveUpAt = performance.now() + PATIENCE_MS;
      for (;;) {
        const answer = await callOnce(method, path, options).catch(() => null);
        if (answer !== null && !asksToComeBack(answer)) return answer;
        if (performance.now() > giveUpAt) {
          throw new Error(`${method} ${path}: ${answer === null ? "no answer" : JSON.stringify(answer)} for a minute`);
        }
        await delay(PAUSE_MS);
      }
    },
    openStream: (path, headers, signal) =>
      fetch(`${next()}/api/v2${path}`, { headers: { authorization, accept: "text/event-stream", ...headers }, signal }),
  };
}

function asksToComeBack({ status, body }: Answer): boolean {
  return status >= 500 || status === 429 || body.code === "IDEMPOTENCY_IN_PROGRESS";
}
