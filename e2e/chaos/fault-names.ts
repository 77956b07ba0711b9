/** Everything that is done to a running installation, in no order; `faults.ts` does it. */
export const FAULT_NAMES = [
  "worker-killed",
  "leader-killed",
  "api-killed",
  "worker-frozen",
  "leader-frozen",
  "worker-blocked",
  "workers-rolled",
  "apis-rolled",
  "redis-flushed",
  "redis-flushed-over-frozen",
  "redis-disconnected",
  "redis-stopped",
  "postgres-crashed",
  "postgres-restarted",
  "postgres-disconnected",
] as const;
export type FaultName = (typeof FAULT_NAMES)[number];

export function isFaultName(name: string): name is FaultName {
  return (FAULT_NAMES as readonly string[]).includes(name);
}
