import { performance } from "node:perf_hooks";
import { findReadyAmong, findReadyTenants, type Db, type DispatchLimits } from "@shiftwork/db";
import type { Contender } from "./choose-fairly.ts";

/** Who has something to hand out, as far as the leader knows. Losing it costs one look at the database. */
export interface ReadyList {
  /** The tenant's line changed; null = anybody's line, limits or pause may have. */
  notice(tenantId: string | null): void;
  /** Brings the list up to date with what was noticed. */
  refresh(db: Db): Promise<void>;
  /** The tenants, whoever was served longest ago first. */
  contenders(inFlight: ReadonlyMap<string, number>): readonly Contender[];
  /** Books what a tenant is owed now, and puts it behind the others when it was `served`. */
  settle(tenantId: string, owed: number, served: boolean): void;
  /** Nobody of this tenant is left in the line. */
  drop(tenantId: string): void;
  /** Somebody else leads, or a pass failed halfway: the next refresh starts from nothing. */
  forget(): void;
}

interface Ready extends DispatchLimits {
  readonly owed: number;
}

/** A look at all lines costs a probe per waiting tenant; with very many it may take this part of the time, no more. */
const LOOK_AROUND_SHARE = 0.02;

/**
 * A map from tenant to its limits, in the order of service. It holds no generations and no counts: those are asked for
 * per pass, for the few tenants that get a place. Signals name the tenant whose line changed, so a refresh probes those
 * alone; every `lookAroundMs` all lines are looked at, for signals that were lost.
 */
export function createReadyList(lookAroundMs: number): ReadyList {
  const ready = new Map<string, Ready>();
  const noticed = new Set<string>();
  let lookAroundAtMs = 0;

  /** Keeps a known tenant's place; a new one stands last. */
  function enter(tenants: readonly DispatchLimits[]): void {
    for (const tenant of tenants) {
      ready.set(tenant.tenantId, { ...tenant, owed: ready.get(tenant.tenantId)?.owed ?? 0 });
    }
  }

  async function lookAround(db: Db): Promise<void> {
    noticed.clear();
    const startedAtMs = performance.now();
    const tenants = await findReadyTenants(db);
    const endedAtMs = performance.now();
    lookAroundAtMs = endedAtMs + Math.max(lookAroundMs, (endedAtMs - startedAtMs) / LOOK_AROUND_SHARE);
    const stay = new Set(tenants.map((tenant) => tenant.tenantId));
    for (const tenantId of ready.keys()) if (!stay.has(tenantId)) ready.delete(tenantId);
    enter(tenants);
  }

  return {
    notice(tenantId) {
      if (tenantId === null) lookAroundAtMs = 0;
      else noticed.add(tenantId);
    },
    async refresh(db) {
      if (performance.now() >= lookAroundAtMs) return lookAround(db);
      // Of a tenant in the list it is known already that somebody waits; one that is dropped later in this pass may get a
      // new line meanwhile. What is noticed from here on waits for the next refresh.
      const asked = [...noticed].filter((tenantId) => !ready.has(tenantId));
      noticed.clear();
      if (asked.length === 0) return;
      enter(await findReadyAmong(db, asked));
    },
    contenders: (inFlight) =>
      [...ready.values()].map((tenant) => ({ ...tenant, inFlight: inFlight.get(tenant.tenantId) ?? 0 })),
    settle(tenantId, owed, served) {
      const tenant = ready.get(tenantId);
      if (tenant === undefined) return;
      if (served) ready.delete(tenantId);
      ready.set(tenantId, { ...tenant, owed });
    },
    drop: (tenantId) => void ready.delete(tenantId),
    forget() {
      ready.clear();
      noticed.clear();
      lookAroundAtMs = 0;
    },
  };
}
