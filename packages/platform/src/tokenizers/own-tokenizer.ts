import {
  countMessage,
  profileOfTokenizer,
  type ChatRequestMessage,
  type CompiledTokenizer,
  type Profile,
} from "@shiftwork/pipeline";

/** A tokenizer that a tenant brought, compiled, and what a profile is made of beside it. */
export interface OwnTokenizer {
  /** Of the profile. */
  readonly id: string;
  readonly models: readonly string[];
  readonly compiled: CompiledTokenizer;
}

/** Its profile. Its file never changes, so there is one version of it. */
export function ownProfile({ id, models, compiled }: OwnTokenizer): Profile {
  return profileOfTokenizer({ id, version: 1, models }, compiled);
}

/** A text, or the messages of a request. */
export type Countable = string | readonly ChatRequestMessage[];

/** Of a text its count, of messages each one's; priming is not among them. */
export function countEach(profile: Profile, input: Countable): readonly number[] {
  if (typeof input === "string") return [profile.countText(input)];
  return input.map((message) => countMessage(profile, message));
}
