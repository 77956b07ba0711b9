export { embeddingsReply, textsOf, type FakeEmbeddings } from "./fake-embeddings.ts";
export {
  startFakeOpenAi,
  type FakeOpenAi,
  type FakeOpenAiOptions,
  type RecordedRequest,
} from "./fake-openai-server.ts";
export { type FakeReply } from "./fake-reply.ts";
export { isUseLiteInstalled } from "./is-use-lite-installed.ts";
export { startSilentListener, type SilentListener } from "./silent-listener.ts";
