import { ALL_ADMIN_SCOPES, ALL_TENANT_SCOPES, encodeId, ID_PREFIXES, SCOPES, type IdKind } from "@shiftwork/contracts";
import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { openApi, type ApiUnderTest, type CallAnswer, type TestTenant } from "../testing/api-under-test.ts";
import { SAMPLE_REQUESTS, type SampleIds, type SampleRequest } from "../testing/sample-requests.ts";
import { seedTenant } from "../testing/seed-tenant.ts";
import type { Endpoint } from "./endpoint.ts";
import { ENDPOINTS } from "./index.ts";

type Id = keyof typeof ENDPOINTS;
type Kind = keyof SampleIds;

let api: ApiUnderTest;
let adminKey: string;
let mine: TestTenant;
let own: SampleIds;
let foreign: SampleIds;
let otherOwners: SampleIds;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  adminKey = await api.newAdminKey([...ALL_ADMIN_SCOPES, ...ALL_TENANT_SCOPES]);
  mine = await api.newTenant();
  own = await seedTenant(api, mine);
  const other = await api.newTenant();
  foreign = await seedTenant(api, other);
  otherOwners = await seedTenant(api, mine, "somebody else");
});
afterAll(() => api.close());

const endpoints = Object.entries<Endpoint>(ENDPOINTS) as [Id, Endpoint][];
const guarded = endpoints.filter(([, endpoint]) => endpoint.scope !== "public");
const samples = endpoints.flatMap(([id, endpoint]) =>
  SAMPLE_REQUESTS[id].map((build, index) => ({ id, endpoint, build, name: `${id} #${index + 1}` })),
);
/** What concerns the installation knows every tenant. */
const withIds = samples
  .filter(({ endpoint }) => !isAdmins(endpoint))
  .flatMap(({ build, ...sample }) =>
    kindsUsedBy(build).map((kind) => ({ ...sample, build, kind, name: `${sample.name}, ${kind}` })),
  );

/** Ids before there are any. */
const anything = new Proxy({} as SampleIds, { get: () => "id" });

test("every id in every path is covered by a sample request", () => {
  for (const [id, endpoint] of endpoints) {
    const inPath = [...endpoint.path.matchAll(/:(\w+)Id/g)].map(([, kind]) => kind);
    const used = new Set(SAMPLE_REQUESTS[id].flatMap(kindsUsedBy));
    expect([...used], id).toEqual(expect.arrayContaining(inPath));
  }
});

describe("another tenant's id is answered exactly like one that never was", () => {
  test.each(withIds)("$name", async ({ endpoint, build, kind }) => {
    const theirs = await send(endpoint, build({ ...own, [kind]: foreign[kind] }));
    const random = await send(endpoint, build({ ...own, [kind]: encodeId(kindOf(kind), uuidv7()) }));
    expectMissing(theirs);
    expect(blind(theirs)).toEqual(blind(random));
  });
});

describe("another owner's chat, and what belongs to it, is answered exactly like one that never was", () => {
  const owned: readonly Kind[] = ["chat", "message", "memory", "generation", "import", "bulkAction"];
  test.each(withIds.filter(({ kind }) => owned.includes(kind)))("$name", async ({ endpoint, build, kind }) => {
    const headers = { "x-owner-id": "me" };
    const mineNow = { ...own, chat: await newChat(headers) };
    const theirs = await send(endpoint, build({ ...mineNow, [kind]: otherOwners[kind] }), headers);
    const random = await send(endpoint, build({ ...mineNow, [kind]: encodeId(kindOf(kind), uuidv7()) }), headers);
    expectMissing(theirs);
    expect(blind(theirs)).toEqual(blind(random));
  });
});

describe("a key without the scope is refused, whatever else it holds", () => {
  test.each(guarded.filter(([, endpoint]) => endpoint.scope !== "any key"))("%s", async (id, endpoint) => {
    const needed: readonly string[] = [endpoint.scope].flat();
    const key = await api.newKey(mine.id, { scopes: SCOPES.filter((scope) => !needed.includes(scope)) });
    const [build] = SAMPLE_REQUESTS[id];
    const answer = await send(endpoint, build?.(own) ?? { path: "" }, {}, key);
    expect([answer.status, answer.body["code"]]).toEqual([403, "INSUFFICIENT_SCOPE"]);
  });
});

describe("what concerns the installation is refused to a tenant's key, whatever scopes it was made with", () => {
  test.each(guarded.filter(([, endpoint]) => isAdmins(endpoint)))("%s", async (id, endpoint) => {
    const key = await api.newKey(mine.id, { scopes: [...SCOPES, "admin:*"] });
    const answer = await send(endpoint, SAMPLE_REQUESTS[id][0]?.(own) ?? { path: "" }, {}, key);
    expect([answer.status, answer.body["code"]]).toEqual([403, "INSUFFICIENT_SCOPE"]);
  });
});

describe("an admin key has to name the tenant of a request", () => {
  test.each(guarded.filter(([, endpoint]) => !isAdmins(endpoint)))("%s", async (id, endpoint) => {
    const [build] = SAMPLE_REQUESTS[id];
    const answer = await send(endpoint, build?.(own) ?? { path: "" }, {}, adminKey);
    expect([answer.status, answer.body["code"]]).toEqual([400, "VALIDATION_FAILED"]);
    const unknown = { "x-tenant-id": encodeId("tenant", uuidv7()) };
    expect((await send(endpoint, build?.(own) ?? { path: "" }, unknown, adminKey)).body["code"]).toBe(
      "TENANT_NOT_FOUND",
    );
  });
});

describe("* for every tenant is refused but by lists that go across tenants", () => {
  test.each(guarded.filter(([, endpoint]) => (endpoint.tenancy ?? "one") === "one"))("%s", async (id, endpoint) => {
    const answer = await send(
      endpoint,
      SAMPLE_REQUESTS[id][0]?.(own) ?? { path: "" },
      { "x-tenant-id": "*" },
      adminKey,
    );
    expect([answer.status, answer.body["code"]]).toEqual([400, "VALIDATION_FAILED"]);
  });
});

describe("a field nobody knows is refused by its name", () => {
  test.each(samples.filter(({ endpoint }) => endpoint.body !== undefined))("$name", async ({ endpoint, build }) => {
    const { path, body } = build(own);
    const answer = await send(endpoint, { path, body: { ...(body as object), surprise: 1 } });
    expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
    expect(answer.body["errors"]).toMatchObject([{ pointer: "/surprise", code: "unknown_field" }]);
  });
});

describe("a query parameter nobody knows is refused by its name", () => {
  test.each(samples)("$name", async ({ endpoint, build }) => {
    const sample = build(own);
    const path = `${sample.path}${sample.path.includes("?") ? "&" : "?"}surprise=1`;
    const answer = await send(endpoint, { ...sample, path });
    expect(answer).toMatchObject({ status: 400, body: { code: "UNKNOWN_PARAMETER" } });
    expect(answer.body["errors"]).toMatchObject([{ pointer: "/surprise" }]);
  });
});

describe("what cannot be read is refused by its name, in words for somebody who never saw the schema", () => {
  const parameters = samples.flatMap(({ name, endpoint, build }) =>
    parametersOf(endpoint).map((parameter) => ({ name: `${name} ?${parameter}=`, endpoint, build, parameter })),
  );
  const fields = samples.flatMap(({ name, endpoint, build }) =>
    Object.keys((build(anything).body as object | undefined) ?? {}).map((field) => ({ name, endpoint, build, field })),
  );

  test.each(parameters)("$name", async ({ endpoint, build, parameter }) => {
    const sample = build(own);
    const [path = ""] = sample.path.split("?");
    // Nothing is a number to a stream: it would begin.
    const nothing = endpoint.result === null ? [] : [""];
    for (const nonsense of [...nothing, "-1", "many", "1.5", "1e99", "null", "[object Object]", "☃".repeat(3_000)]) {
      const query = `${parameter}=${encodeURIComponent(nonsense)}`;
      expectPlainWords(await send(endpoint, { ...sample, path: `${path}?${query}` }), parameter);
    }
  });

  test.each(fields.filter(({ endpoint }) => endpoint.body !== undefined))(
    "$name, $field",
    async ({ endpoint, build, field }) => {
      const { path, body } = build(own);
      for (const nonsense of [[[]], { "": {} }, -1.5, 1e300, true, "☃".repeat(3_000), null]) {
        expectPlainWords(await send(endpoint, { path, body: { ...(body as object), [field]: nonsense } }), field);
      }
    },
  );

  test.each<[string, { readonly [name: string]: string }]>([
    ["X-Owner-Id", { "x-owner-id": "x".repeat(300) }],
    ["Idempotency-Key", { "idempotency-key": "x".repeat(300) }],
  ])("the header %s", async (name, headers) => {
    const answer = await api.call("POST", "/api/v2/chats", { key: mine.key, body: {}, headers });
    expect(answer.status).toBe(400);
    expectPlainWords(answer, name);
  });

  function parametersOf({ query }: Endpoint): readonly string[] {
    const schema = query && z.toJSONSchema(query, { io: "input", unrepresentable: "any" });
    return Object.keys(schema?.properties ?? {});
  }

  /** Refused by its name, or taken. */
  function expectPlainWords({ status, body }: CallAnswer, field: string): void {
    expect(status).toBeLessThan(500);
    if (status !== 400) return;
    const problems = body["errors"] as { pointer: string; message: string; fix: string }[];
    expect(problems.length).toBeGreaterThan(0);
    for (const { pointer, message, fix } of problems) {
      expect(`${pointer}/`).toContain(`/${field}`);
      expect(`${message} ${fix} ${String(body["detail"])}`).not.toMatch(
        /NaN|\bexpected\b|received|Invalid |Too |undefined/,
      );
      expect(fix).toMatch(/^[A-Z].*\.$/);
    }
  }
});

function send(
  endpoint: Endpoint,
  { path, body, headers }: SampleRequest,
  more: { readonly [name: string]: string } = {},
  key = isAdmins(endpoint) ? adminKey : mine.key,
): Promise<CallAnswer> {
  return api.call(endpoint.method, path, { key, body, headers: { ...headers, ...more } });
}

function isAdmins({ tenancy }: Endpoint): boolean {
  return tenancy === "none";
}

async function newChat(headers: { readonly [name: string]: string }): Promise<string> {
  return (await api.call("POST", "/api/v2/chats", { key: mine.key, body: {}, headers })).body.id;
}

/** Missing = 404, or in a filtered list nothing. */
function expectMissing(answer: CallAnswer): void {
  if (answer.status === 200) expect(answer.body["items"]).toEqual([]);
  else expect([answer.status, answer.body["code"]]).toEqual([404, expect.stringMatching(/_NOT_FOUND$/)]);
}

/** The answer without what differs between any two requests: ids. */
function blind({ status, body }: CallAnswer): unknown {
  const prefixes = [...Object.values(ID_PREFIXES), "req"].join("|");
  return [status, JSON.parse(JSON.stringify(body).replaceAll(new RegExp(`(${prefixes})_[0-9a-f]{32}`, "g"), "id"))];
}

function kindOf(kind: Kind): IdKind {
  return kind;
}

function kindsUsedBy(build: (ids: SampleIds) => SampleRequest): Kind[] {
  const used = new Set<Kind>();
  const recorder = new Proxy({} as SampleIds, {
    get: (_target, kind) => {
      used.add(kind as Kind);
      return "id";
    },
  });
  build(recorder);
  return [...used];
}
