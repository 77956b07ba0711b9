// What measurements of whole turns share: a provider that streams words, a tenant on it, chats, turns read to their end.
import { createServer } from "node:http";
import { join } from "node:path";
import { capture, ROOT } from "./run-command.mjs";
import { serviceEnvironment } from "./processes.mjs";

const WORDS = 50;

/**
 * A provider that streams 50 words over HTTP.
 *
 * @param {number} paceMs from one word to the next
 */
export async function startWordProvider(paceMs) {
  const words = Array.from({ length: WORDS }, (_, n) => `word${n} `);
  const chunk = (delta, finish = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const server = createServer((request, response) => {
    request.resume().on(
      "end",
      () =>
        void streamWords(
          response,
          words.map((content) => chunk({ content })),
          chunk({}, "stop"),
          paceMs,
        ),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

async function streamWords(response, chunks, last, paceMs) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) {
    response.write(chunk);
    await new Promise((resolve) => setTimeout(resolve, paceMs));
  }
  response.end(`${last}data: [DONE]\n\n`);
}

/** A tenant whose model is that provider; returns how to call the API as it. */
export async function makeTenant(services, providerUrl, apiUrl) {
  const program = join(ROOT, "services", "api", "dist", "provision.js");
  const flags = ["--tenant", "bench", "--provider-kind", "openai-compatible", "--base-url", providerUrl];
  const model = ["--model", "gpt-4o", "--context-limit", "8192", "--allow-private-network"];
  const { output } = await capture(process.execPath, [program, ...flags, ...model], {
    env: serviceEnvironment(services),
  });
  const { apiKey } = JSON.parse(output);
  return async (path, body) => {
    const answer = await fetch(`${apiUrl}/api/v2${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        accept: body.accept ?? "application/json",
      },
      body: JSON.stringify(body.json),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
}

/** A chat with so many messages of some 300 characters. */
export async function makeChat(api, messages) {
  const { id } = await (await api("/chats", { json: { title: "bench" } })).json();
  const text = "The tide turned while they counted the posts along the causeway, and nobody spoke of the bell. ".repeat(
    3,
  );
  for (let n = 0; n < messages; n += 1) {
    const json = { role: n % 2 === 0 ? "user" : "assistant", content: `${n}: ${text}` };
    await (await api(`/chats/${id}/messages`, { json })).json();
  }
  return id;
}

/** `count` turns in all, each read as a stream. Each chat takes its turns one after the other, all chats side by side. */
export async function generate(api, chats, count) {
  await Promise.all(
    chats.map(async (id) => {
      for (let n = 0; n < count / chats.length; n += 1) {
        const answer = await api(`/chats/${id}/generations`, {
          json: { message: `Turn ${n}?` },
          accept: "text/event-stream",
        });
        const events = await answer.text();
        if (!events.includes("generation.completed"))
          throw new Error(`a generation did not complete: ${events.slice(-500)}`);
      }
    }),
  );
}
