import type { FakeReply } from "./fake-reply.ts";
import type { RecordedRequest } from "./fake-openai-server.ts";

/** How a fake embeddings endpoint answers. */
export interface FakeEmbeddings {
  /** The numbers of one text's vector. */
  readonly vectorOf: (text: string) => readonly number[];
  /** Numbers in JSON instead of base64, as servers answer that do not know the field. */
  readonly asNumbers?: boolean;
  /** Backwards: `index` alone says which is which. */
  readonly reversed?: boolean;
}

/** The texts a request asks about. */
export function textsOf({ rawBody }: Pick<RecordedRequest, "rawBody">): readonly string[] {
  const { input } = JSON.parse(rawBody) as { readonly input: readonly string[] };
  return input;
}

/** The answer of `POST /embeddings`. */
export function embeddingsReply(request: Pick<RecordedRequest, "rawBody">, fake: FakeEmbeddings): FakeReply {
  const written = (numbers: readonly number[]): unknown =>
    fake.asNumbers === true ? numbers : Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
  const data = textsOf(request).map((text, index) => ({
    object: "embedding",
    index,
    embedding: written(fake.vectorOf(text)),
  }));
  return { kind: "json", body: { object: "list", data: fake.reversed === true ? data.toReversed() : data } };
}
