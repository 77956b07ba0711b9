import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";

/** Everything the page may do: its own script and style, calls to this API, nothing inline, in no frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const FILES = [
  { url: "/audit", content: read("index.html"), type: "text/html; charset=utf-8" },
  { url: "/audit/page.css", content: read("page.css"), type: "text/css; charset=utf-8" },
  { url: "/audit/page.js", content: read("page.js"), type: "text/javascript; charset=utf-8" },
] as const;

/** `../..` is the package, from source and built alike. */
function read(file: string): Buffer {
  return readFileSync(new URL(`../../audit-page/${file}`, import.meta.url));
}

/** Serves the audit page: a shell without data, which the visitor's key fills over the public routes. */
export function addAuditPage(app: FastifyInstance): void {
  for (const { url, content, type } of FILES) {
    app.get(url, { schema: { hide: true } }, (_request, reply) =>
      reply.headers({ "content-security-policy": POLICY, "cache-control": "no-cache" }).type(type).send(content),
    );
  }
}
