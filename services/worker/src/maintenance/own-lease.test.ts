import { expect, it } from "vitest";
import { createOwnLease } from "./own-lease.ts";

function leaseAt() {
  const now = { monotonic: 0, wall: 1_000_000 };
  const sweeps: (() => void)[] = [];
  const sweep = () => new Promise<void>((resolve) => sweeps.push(resolve));
  const clock = { monotonicMs: () => now.monotonic, wallMs: () => now.wall };
  return { now, sweeps, lease: createOwnLease({ sweep, deadAfterMs: 100 }, clock) };
}

async function renewed() {
  const at = leaseAt();
  const renewal = at.lease.renew();
  at.sweeps.shift()?.();
  await renewal;
  return at;
}

it("a lease is over until it is renewed, and when either clock says so", async () => {
  expect(leaseAt().lease.isOver()).toBe(true);
  for (const clock of ["monotonic", "wall"] as const) {
    const { now, lease } = await renewed();
    now[clock] += 99;
    expect(lease.isOver()).toBe(false);
    now[clock] += 1;
    expect(lease.isOver()).toBe(true);
  }
});

it("a renewal counts from before it was asked for: one that a freeze came into is worth nothing", async () => {
  const { now, sweeps, lease } = leaseAt();
  const renewal = lease.renew();
  now.monotonic += 100;
  sweeps.shift()?.();
  await renewal;
  expect(lease.isOver()).toBe(true);
});

it("one renewal is under way at a time, and a failed one changes nothing", async () => {
  const { now, sweeps, lease } = await renewed();
  const both = [lease.renew(), lease.renew()];
  expect(sweeps).toHaveLength(1);
  sweeps.shift()?.();
  await Promise.all(both);
  now.wall += 100;
  const failing = createOwnLease({ sweep: () => Promise.reject(new Error("away")), deadAfterMs: 100 });
  await expect(failing.renew()).rejects.toThrow("away");
  expect([failing.isOver(), lease.isOver()]).toEqual([true, true]);
});
