import type { ProviderRequest } from "@shiftwork/pipeline";

/**
 * The request as it goes out: streaming, and asking for usage, unless the request already decides. Keys that are there
 * keep their place, so applying it twice changes nothing.
 */
export function streamingRequest(request: ProviderRequest): ProviderRequest {
  const stream = request["stream"] ?? true;
  const usage = stream === true ? { stream_options: request["stream_options"] ?? { include_usage: true } } : {};
  return { ...request, stream, ...usage };
}

/**
 * The body of `POST /chat/completions` or `POST /completions`, byte for byte. The audit stores what this returns, the provider sends it, and a
 * replay of the stored body gives the same bytes again.
 */
export function wireBody(request: ProviderRequest): string {
  return JSON.stringify(streamingRequest(request));
}
