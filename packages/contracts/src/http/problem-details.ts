import { z } from "zod";

/** One field that is wrong. `pointer` is a JSON Pointer into the body, or `/<name>` of a query parameter or form field. */
export const FieldProblem = z.object({
  pointer: z.string(),
  code: z.string(),
  message: z.string(),
  fix: z.string(),
});
export type FieldProblem = z.infer<typeof FieldProblem>;

/** RFC 9457 problem details, sent as `application/problem+json`. Clients must accept codes they do not know. */
export const ProblemDetails = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: z.string(),
  detail: z.string(),
  instance: z.string(),
  requestId: z.string(),
  traceId: z.string().optional(),
  retryable: z.boolean(),
  origin: z.enum(["client", "provider", "platform"]),
  params: z.record(z.string(), z.unknown()),
  errors: z.array(FieldProblem),
});
export type ProblemDetails = z.infer<typeof ProblemDetails>;

/** The part of a problem that stored generations and events carry. */
export const GenerationProblem = z.object({
  code: z.string(),
  title: z.string(),
  detail: z.string(),
  retryable: z.boolean(),
  origin: z.enum(["client", "provider", "platform"]),
  params: z.record(z.string(), z.unknown()),
});
