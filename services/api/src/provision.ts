import { ALL_ADMIN_SCOPES, ALL_TENANT_SCOPES, encodeId } from "@shiftwork/contracts";
import {
  insertAdminKey,
  insertApiKey,
  insertProvider,
  insertTenant,
  openDatabase,
  withTenant,
  writeTenantSettings,
  type Db,
  type ProviderModel,
  type Tx,
} from "@shiftwork/db";
import { providerSecretContext, readMasterKey, sealSecret } from "@shiftwork/platform";
import { modelFacts, POST_PROCESSING } from "@shiftwork/pipeline";
import { PROVIDER_KINDS, providerByKind } from "@shiftwork/providers";
import { parseArgs } from "node:util";
import { uuidv7 } from "uuidv7";
import { makeApiKey } from "./auth/api-key.ts";
import { readNamedVariable, readProvisionConfig } from "./config.ts";

const USAGE = `Makes a tenant with one provider and one API key, or an admin key; prints ids and the key, once, as JSON.

  --tenant NAME                 name of the tenant
  --provider-kind KIND          echo | openai-compatible | openai-compatible-text
  --model MODEL                 default model
  --context-limit TOKENS        its window, when it is not a well-known model
  --post-processing MODE        for strict endpoints: ${POST_PROCESSING.join(" | ")}
  --base-url URL                root of the provider's API
  --api-key-env VARIABLE        variable that holds the provider's key
  --allow-private-network       the provider may be on this machine or network
  --key-environment NAME        second part of the API key; default live
  --admin-key NAME              instead of a tenant: a key for the installation and every tenant's generations in numbers
  --with-content                the admin key may also see and write a tenant's texts

Environment: DATABASE_URL, API_KEY_PEPPER, MASTER_KEY. While npm start runs, npm run provision needs none of them.
`;

/** As everywhere: what its column holds, with room. */
const LARGEST_WINDOW = 100_000_000;

const OPTIONS = {
  tenant: { type: "string" },
  "provider-kind": { type: "string", default: "echo" },
  model: { type: "string", default: "echo" },
  "context-limit": { type: "string" },
  "post-processing": { type: "string", default: "none" },
  "base-url": { type: "string", default: "" },
  "api-key-env": { type: "string" },
  "allow-private-network": { type: "boolean", default: false },
  "key-environment": { type: "string", default: "live" },
  "admin-key": { type: "string" },
  "with-content": { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

type Flags = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

async function main(): Promise<void> {
  const { values: flags } = parseArgs({ options: OPTIONS });
  if (flags.help || (flags.tenant === undefined) === (flags["admin-key"] === undefined)) {
    process.stdout.write(USAGE);
    process.exitCode = flags.help ? 0 : 2;
    return;
  }
  const config = readProvisionConfig();
  const database = openDatabase({
    url: config.DATABASE_URL,
    role: "shiftwork_admin",
    maxConnections: 1,
    applicationName: "shiftwork-provision",
  });
  try {
    const secrets = { pepper: config.API_KEY_PEPPER, masterKey: readMasterKey(config.MASTER_KEY) };
    const made = await (flags.tenant === undefined
      ? provisionAdmin(database.db, flags, secrets.pepper)
      : provisionTenant(database.db, flags, secrets));
    process.stdout.write(`${JSON.stringify(made)}\n`);
  } finally {
    await database.close();
  }
}

interface Secrets {
  readonly pepper: string;
  readonly masterKey: Uint8Array;
}

function provisionTenant(db: Db, flags: Flags, secrets: Secrets) {
  const tenantId = uuidv7();
  return withTenant(db, tenantId, (tx) => provision(tx, tenantId, flags, secrets));
}

async function provisionAdmin(db: Db, flags: Flags, pepper: string) {
  const { key, keyId, secretHash } = makeApiKey(flags["key-environment"], pepper);
  const id = uuidv7();
  const scopes = [...new Set([...ALL_ADMIN_SCOPES, ...(flags["with-content"] ? ALL_TENANT_SCOPES : [])])];
  await insertAdminKey(db, { id, keyId, secretHash, name: flags["admin-key"] ?? "", scopes });
  return { adminKeyId: encodeId("adminKey", id), apiKey: key, scopes };
}

async function provision(tx: Tx, tenantId: string, flags: Flags, secrets: Secrets) {
  requireProvider(flags);
  requireWindow(flags);
  const providerId = uuidv7();
  await insertTenant(tx, { id: tenantId, name: flags.tenant ?? "" });
  await insertProvider(tx, tenantId, {
    id: providerId,
    name: flags["provider-kind"],
    kind: flags["provider-kind"],
    baseUrl: flags["base-url"],
    secret: sealedKey(flags, secrets.masterKey, providerSecretContext(tenantId, providerId)),
    allowPrivateNetwork: flags["allow-private-network"],
    models: [modelOf(flags)],
  });
  await writeTenantSettings(tx, tenantId, { providerId, model: flags.model });
  const { key, keyId, secretHash } = makeApiKey(flags["key-environment"], secrets.pepper);
  const apiKeyId = uuidv7();
  await insertApiKey(tx, tenantId, { id: apiKeyId, keyId, secretHash, name: "first key", scopes: ALL_TENANT_SCOPES });
  return {
    tenantId: encodeId("tenant", tenantId),
    providerId: encodeId("provider", providerId),
    apiKeyId: encodeId("apiKey", apiKeyId),
    apiKey: key,
    model: flags.model,
  };
}

/** Finds out now what would otherwise fail on the first turn. */
function requireProvider({ "provider-kind": kind, "base-url": baseUrl }: Flags): void {
  if (providerByKind(kind) === null) throw new Error(`--provider-kind is one of: ${PROVIDER_KINDS.join(", ")}`);
  if (kind === "echo" || URL.canParse(baseUrl)) return;
  throw new Error(`--base-url is needed for ${kind}, such as https://api.example.com/v1`);
}

function requireWindow({ model, "context-limit": contextLimit }: Flags): void {
  if (contextLimit !== undefined || modelFacts(model).contextLimit !== null) return;
  throw new Error(`--context-limit is needed: the window of ${model} is not known`);
}

function sealedKey(flags: Flags, masterKey: Uint8Array, context: string): Uint8Array | null {
  const variable = flags["api-key-env"];
  if (variable === undefined) return null;
  const key = readNamedVariable(variable);
  if (key === null) throw new Error(`the variable ${variable}, named by --api-key-env, is not set`);
  return sealSecret(masterKey, key, context);
}

function modelOf(flags: Flags): ProviderModel {
  const mode = POST_PROCESSING.find((known) => known === flags["post-processing"]);
  if (mode === undefined) throw new Error(`--post-processing is one of ${POST_PROCESSING.join(", ")}`);
  const facts = { model: flags.model, contextLimit: windowOf(flags), maxOutputTokens: null };
  return mode === "none" ? facts : { ...facts, postProcessing: mode };
}

function windowOf(flags: Flags): number | null {
  const text = flags["context-limit"];
  if (text === undefined) return null;
  const tokens = Number(text);
  if (Number.isInteger(tokens) && tokens > 1 && tokens <= LARGEST_WINDOW) return tokens;
  throw new Error(`--context-limit is a whole number of tokens from 2 to ${LARGEST_WINDOW}`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
