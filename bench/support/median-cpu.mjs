/**
 * CPU milliseconds of one round: the median over `rounds`, after `warmUps` that do not count. Wall time where that is less:
 * the clock of a process counts its other threads too. `prepare` makes a round's input outside of what is measured.
 */
export async function medianCpuMs(work, { rounds, warmUps, prepare = () => undefined }) {
  const times = [];
  for (let round = 0; round < warmUps + rounds; round += 1) {
    const input = prepare();
    const before = process.cpuUsage();
    const startedAt = performance.now();
    await work(input);
    const { user, system } = process.cpuUsage(before);
    times.push(Math.min((user + system) / 1_000, performance.now() - startedAt));
  }
  const counted = times.slice(warmUps).sort((a, b) => a - b);
  return Math.round(counted[rounds >> 1] * 1_000) / 1_000;
}
