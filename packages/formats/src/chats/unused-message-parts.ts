import { isEmpty, isRecord, ownValue, type JsonRecord } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";

const READ_NAMES: ReadonlySet<string> = new Set([
  "name",
  "is_user",
  "is_system",
  "is_name",
  "mes",
  "send_date",
  "swipes",
  "swipe_id",
  "extra",
  "extra.type",
  "extra.tool_invocations",
]);

/** Parts that would reach a prompt, or a reader, in the application that wrote them. */
const FEATURES: { readonly [name: string]: string } = {
  "extra.media": "Attached media are not sent",
  "extra.files": "Attached files are not sent",
  "extra.file": "Attached files are not sent",
  "extra.image": "Attached pictures are not sent",
  "extra.video": "Attached videos are not sent",
  "extra.memory": "Summaries written by the application are not used",
  "extra.reasoning": "Reasoning is not shown and not sent",
  "extra.bias": "Reply biases are not sent",
  "extra.display_text": "Translated texts are not shown",
};

/** Where a part was seen first, and how often. */
interface Sighting {
  readonly firstLine: number;
  readonly count: number;
}

/** Counts, over a whole file, the parts of messages that are only kept in the source. */
export interface UnusedParts {
  see(record: JsonRecord, line: number): void;
  /** One warning per feature, one for all that is left. */
  report(warnings: WarningCollector): void;
}

/** A count that starts empty. */
export function countUnusedParts(): UnusedParts {
  const seen = new Map<string, Sighting>();
  return {
    see(record, line) {
      for (const name of unusedNames(record)) {
        const earlier = seen.get(name);
        seen.set(name, { firstLine: earlier?.firstLine ?? line, count: (earlier?.count ?? 0) + 1 });
      }
    },
    report(warnings) {
      for (const [name, sighting] of seen) reportFeature(name, sighting, warnings);
      const others = [...seen.keys()].filter((name) => !Object.hasOwn(FEATURES, name));
      if (others.length > 0) {
        warnings.add("kept_unused", `Kept in the messages' source and not used: ${others.join(", ")}.`);
      }
    },
  };
}

function reportFeature(name: string, { firstLine, count }: Sighting, warnings: WarningCollector): void {
  if (!Object.hasOwn(FEATURES, name)) return;
  const message = `${FEATURES[name]}; kept in the source of ${count} ${count === 1 ? "message" : "messages"}.`;
  warnings.add("feature_unsupported", message, { line: firstLine, path: `/${name.replace(".", "/")}` });
}

function unusedNames(record: JsonRecord): readonly string[] {
  const extra = ownValue(record, "extra");
  const own = Object.keys(record).filter((name) => !isEmpty(record[name]));
  const inExtra = isRecord(extra) ? Object.keys(extra).filter((name) => !isEmpty(extra[name])) : [];
  return [...own, ...inExtra.map((name) => `extra.${name}`)].filter((name) => !READ_NAMES.has(name));
}
