import helmet from "@fastify/helmet";
import multipart from "@fastify/multipart";
import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance } from "fastify";
import type { ApiDependencies } from "./api-dependencies.ts";
import { createAuthenticate } from "./auth/authenticate.ts";
import { addAccessLog } from "./plugins/access-log.ts";
import { addAuditPage } from "./plugins/audit-page.ts";
import { addDocumentation } from "./plugins/documentation.ts";
import { addJsonBody } from "./plugins/json-body.ts";
import { addPressureValve } from "./plugins/pressure.ts";
import { addProblemResponses, answerFrameworkError } from "./plugins/problem-responses.ts";
import { addRequestIdentity, requestIdOf } from "./plugins/request-identity.ts";
import { validatorCompiler } from "./plugins/validation.ts";
import { registerEndpoints } from "./routes/register.ts";

/** Largest body but for imports, in bytes. */
const BODY_LIMIT = 1024 * 1024;
/** How long a client may take to send a request, the largest import on a slow line included. */
const REQUEST_TIMEOUT_MS = 300_000;

/** The HTTP API over its dependencies. Does no I/O of its own; `listen` or `inject` is the caller's. */
export async function createApp(deps: ApiDependencies): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = deps.logger;
  const app = fastify({
    loggerInstance,
    requestIdHeader: false,
    genReqId: requestIdOf,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    frameworkErrors: answerFrameworkError,
  });
  app.setValidatorCompiler(validatorCompiler);
  // Handlers are typed by their result schemas; the tests check every body against them.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  addRequestIdentity(app);
  addProblemResponses(app);
  addAccessLog(app);
  addJsonBody(app);
  await app.register(helmet, { contentSecurityPolicy: { directives: { defaultSrc: ["'none'"] }, useDefaults: false } });
  await app.register(multipart);
  await addPressureValve(app);
  await addDocumentation(app, deps.version);
  addAuditPage(app);
  registerEndpoints(app, deps, createAuthenticate(deps.db, deps.pepper));
  app.addHook("preClose", async () => deps.streams.endAll());
  await app.ready();
  return app;
}
