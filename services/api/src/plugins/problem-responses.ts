import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { HttpProblem, problemDetails } from "../errors.ts";
import { GenerationEnded } from "../generations/ended-problem.ts";
import { traceIdOf } from "./request-identity.ts";
import { translateError } from "./translate-error.ts";

/** Answers every error, known or not, as `application/problem+json`. */
export function addProblemResponses(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const problem = translateError(error);
    if (problem.status >= 500 && !(problem instanceof GenerationEnded)) {
      request.log.error({ err: error, errorCode: problem.code }, "request failed");
    }
    return sendProblem(request, reply, problem);
  });
  app.setNotFoundHandler((request, reply) =>
    sendProblem(request, reply, new HttpProblem("NOT_FOUND", "There is no such route.")),
  );
}

/** Answers what fails before there is a route, such as a path that cannot be decoded. */
export function answerFrameworkError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  void sendProblem(request, reply, translateError(error));
}

function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: HttpProblem): FastifyReply {
  const [instance = ""] = request.url.split("?");
  if (problem.retryAfterSeconds !== null) reply.header("retry-after", String(problem.retryAfterSeconds));
  if (problem.status === 401) reply.header("www-authenticate", "Bearer");
  const body = problemDetails(problem, { instance, requestId: request.id, traceId: traceIdOf(request) });
  return reply
    .code(problem.status)
    .type("application/problem+json")
    .serializer((value) => JSON.stringify(value))
    .send(body);
}
