/**
 * SQLSTATEs and driver codes that mean the database is away, restarting, or overloaded: 08 = the connection, 53 = it is out
 * of something, 57P = it shuts down or starts up, 25P03 = it ended a transaction this process slept in, 40001 and 40P01 =
 * another transaction won. A socket of a server that was stopped is no file any more: ENOENT.
 */
const AWAY =
  /^(08...|53...|57P..|25P03|40001|40P01|CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|ENOENT)$/;

/** Whether it passes: nothing was committed, or nobody knows, and trying again is right. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string" && AWAY.test(error.code);
}
