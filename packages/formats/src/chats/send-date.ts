/** Longer texts are no date; the patterns below never see them. */
const LONGEST = 64;
/** Below this a count of milliseconds would lie before March 1973: it is a count of seconds. */
const SECONDS_BELOW = 100_000_000_000;

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d:?\d\d)?$/;
const HUMANIZED = /^(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?$/;
const WRITTEN_OUT = /^([a-z]+) (\d{1,2}), (\d{4}) (\d{1,2}):(\d\d) ?([ap])m$/i;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/**
 * A `send_date` or `create_date` of any age as RFC 3339 in UTC; `null` when it is none. Forms: ISO, a count of
 * milliseconds (number or digits), `June 19, 2023 2:20pm`, `2024-6-5 @14h 56m 50s 682ms`, `2024-07-12@01h31m37s123ms`.
 * Local times are read as UTC: the file does not say where they were.
 */
export function readSendDate(value: unknown): string | null {
  if (typeof value === "number") return fromMilliseconds(value);
  if (typeof value !== "string" || value.length > LONGEST) return null;
  const text = value.trim();
  if (/^\d{9,15}$/.test(text)) return fromMilliseconds(Number(text));
  return fromIso(text) ?? fromHumanized(text) ?? fromWrittenOut(text);
}

function fromMilliseconds(count: number): string | null {
  return stamp(count < SECONDS_BELOW ? count * 1000 : count);
}

function fromIso(text: string): string | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = "", zone = "Z"] = match;
  const milliseconds = Math.trunc(Number(`0.${fraction}0`) * 1000);
  const local = utc([year, month, day, hour, minute, second], milliseconds);
  return local === null ? null : stamp(local - zoneMilliseconds(zone));
}

function zoneMilliseconds(zone: string): number {
  if (zone === "Z") return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return (zone.startsWith("-") ? -minutes : minutes) * 60_000;
}

function fromHumanized(text: string): string | null {
  const match = HUMANIZED.exec(text);
  return match === null ? null : stamp(utc(match.slice(1, 7), Number(match[7] ?? 0)));
}

function fromWrittenOut(text: string): string | null {
  const [, name = "", day, year, hour, minute, half = ""] = WRITTEN_OUT.exec(text) ?? [];
  const month = MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;
  if (month === 0 || Number(hour) > 12) return null;
  const hourOfDay = (Number(hour) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  return stamp(utc([year, String(month), day, String(hourOfDay), minute], 0));
}

/** `null` for a day or hour no calendar or clock has, instead of the one it would roll over to. */
function utc(parts: readonly (string | undefined)[], milliseconds: number): number | null {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.map((part) => Number(part ?? 0));
  const time = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  const date = new Date(time);
  const sameDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return sameDay && date.getUTCHours() === hour && date.getUTCMinutes() === minute ? time : null;
}

/** Four-digit years from 1970 on: what every database and client reads alike. */
function stamp(milliseconds: number | null): string | null {
  const latest = 253_402_300_799_999;
  if (milliseconds === null || !(milliseconds >= 0 && milliseconds <= latest)) return null;
  return new Date(milliseconds).toISOString();
}
