import { request } from "node:http";

/** A dispatched event. */
export interface SentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export interface ReadStream {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  /** Resolves with every event so far once `until` holds for one of them. */
  until(until: (event: SentEvent) => boolean): Promise<readonly SentEvent[]>;
  /** Resolves with everything when the server has ended the stream. */
  ended(): Promise<{
    readonly events: readonly SentEvent[];
    readonly retries: readonly number[];
    readonly text: string;
  }>;
  /** What has come in, comments included. */
  textSoFar(): string;
  /** Leaves, as a closed tab does. */
  leave(): void;
}

/** Opens an event stream over a real socket. */
export function openStream(
  url: string,
  options: { readonly method?: string; readonly body?: unknown; readonly headers: { readonly [name: string]: string } },
): Promise<ReadStream> {
  return new Promise((resolve, reject) => {
    const { method = "GET", body, headers } = options;
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const sent = request(url, { method, agent: false, headers: { accept: "text/event-stream", ...type, ...headers } });
    sent.once("error", reject);
    sent.once("response", (response) => {
      const events: SentEvent[] = [];
      const retries: number[] = [];
      let unread = "";
      const watchers = new Set<() => void>();
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
        const blocks = `${unread}${chunk}`.split("\n\n");
        unread = blocks.pop() ?? "";
        for (const block of blocks) readBlock(block, events, retries);
        for (const look of watchers) look();
      });
      const end = new Promise<void>((done) => response.once("close", done));
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        until: (until) =>
          new Promise((found) => {
            const look = () => {
              if (!events.some(until)) return;
              watchers.delete(look);
              found([...events]);
            };
            watchers.add(look);
            look();
          }),
        ended: () => end.then(() => ({ events, retries, text })),
        textSoFar: () => text,
        leave: () => sent.destroy(),
      });
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** One block of a stream as we write it: whole lines `field: value`, one data line. Comments have no field name. */
function readBlock(block: string, events: SentEvent[], retries: number[]): void {
  const fields = new Map(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  const [id, event, data, retry] = ["id", "event", "data", "retry"].map((name) => fields.get(name));
  if (retry !== undefined) retries.push(Number(retry));
  if (id !== undefined && event !== undefined && data !== undefined) events.push({ id, event, data });
}
