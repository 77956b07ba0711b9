import { ProviderError } from "./provider.ts";

const UNREACHABLE = "The provider's host could not be reached.";

/** What the system says about a failed connection → what we say. Node's own messages name hosts, ports, certificates. */
const CONNECTION_FAILURES: { readonly [code: string]: string } = {
  ECONNREFUSED: "The provider's host refused the connection.",
  ENOTFOUND: "The provider's host name could not be resolved.",
  EAI_AGAIN: "The provider's host name could not be resolved at the moment.",
  ECONNRESET: "The provider closed the connection before it answered.",
  EPIPE: "The provider closed the connection before it answered.",
  ETIMEDOUT: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
};

const TLS_CODE = /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO)/;

/** For a call that failed before its answer began. Carries no upstream or system text, and no `cause`. */
export function connectionError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const code = codeOf(error);
  if (code === "ERR_INVALID_CHAR") {
    const message = "The provider's API key holds characters that cannot be sent in a header.";
    return new ProviderError("PROVIDER_AUTH_FAILED", message, { retryable: false });
  }
  if (TLS_CODE.test(code)) {
    const message = "No trusted TLS connection to the provider could be made.";
    return new ProviderError("PROVIDER_UNAVAILABLE", message, { retryable: false });
  }
  if (code.startsWith("HPE_")) return badResponse("The provider's answer is not valid HTTP.");
  return new ProviderError("PROVIDER_UNAVAILABLE", CONNECTION_FAILURES[code] ?? UNREACHABLE, { retryable: true });
}

/** For an answer that broke off. */
export function interrupted(): ProviderError {
  const message = "The provider's answer broke off before its end.";
  return new ProviderError("PROVIDER_STREAM_INTERRUPTED", message, { retryable: true });
}

export function badResponse(message: string): ProviderError {
  return new ProviderError("PROVIDER_BAD_RESPONSE", message, { retryable: true });
}

export function timedOut(message: string): ProviderError {
  return new ProviderError("PROVIDER_TIMEOUT", message, { retryable: true });
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
