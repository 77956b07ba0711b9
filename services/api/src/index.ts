export type { ApiDependencies } from "./api-dependencies.ts";
export { createApp } from "./app.ts";
export { makeApiKey, type MadeApiKey } from "./auth/api-key.ts";
export { createStreamRegistry, type StreamRegistry } from "./events/stream-registry.ts";
export { previewsInThread } from "./preview/previews-in-thread.ts";
export { ENDPOINTS } from "./routes/index.ts";
