// What measurements of whole turns share: a provider that streams words, chats, and turns read to their end.
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const WORDS = 50;
const SENTENCE = "The tide turned while they counted the posts along the causeway, and nobody spoke of the bell. ";

/** A provider that streams 50 words over HTTP, `paceMs` from one to the next. */
export async function startWordProvider(paceMs) {
  const words = Array.from({ length: WORDS }, (_, n) => `word${n} `);
  const chunk = (delta, finish = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const chunks = words.map((content) => chunk({ content }));
  let lastRequestAt = 0;
  const server = createServer((request, response) => {
    lastRequestAt = performance.now();
    request.resume().on("end", () => void streamWords(response, chunks, chunk({}, "stop"), paceMs));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    lastRequestAt: () => lastRequestAt,
    close: () => server.close(),
  };
}

async function streamWords(response, chunks, last, paceMs) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) {
    response.write(chunk);
    await delay(paceMs);
  }
  response.end(`${last}data: [DONE]\n\n`);
}

/** A chat of so many messages, each of so many sentences of some 100 characters. */
export async function makeChat(api, messages, sentences) {
  const { id } = await api.post("/chats", { title: "bench" });
  const text = SENTENCE.repeat(sentences);
  for (let n = 0; n < messages; n += 1) {
    await api.post(`/chats/${id}/messages`, { role: n % 2 === 0 ? "user" : "assistant", content: `${n}: ${text}` });
  }
  return id;
}

/** `count` turns in all. Each chat takes its turns one after the other, all chats side by side. */
export async function generate(api, chats, count) {
  await Promise.all(
    chats.map(async (id) => {
      for (let n = 0; n < count / chats.length; n += 1) await takeTurn(api, id, n);
    }),
  );
}

export async function takeTurn(api, chatId, number) {
  const events = await api.stream(`/chats/${chatId}/generations`, { message: `Turn ${number}?` });
  if (!events.includes("generation.completed")) throw new Error(`a generation did not complete: ${events.slice(-500)}`);
}
