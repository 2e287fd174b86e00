// What is kept of a sign-in between runs: the registration, the tokens and where they came from. One file for each
// resource, so that renewing one sign-in never waits for another; in it, one grant for each issuer.
import { createHash } from "node:crypto";
import { mkdirSync, watch } from "node:fs";
import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { isAbsent, parseJson, systemCodeOf, TrunklineError, writeFileAtomically } from "@trunkline/core";
import { z } from "zod";
import { withFileLock } from "./file-lock.js";

/** What a sign-in is kept under, besides its issuer. */
export interface CredentialKey {
  /** The address of the server, without a fragment. */
  readonly resource: string;
  /** The client id that the entry names, where it names one: what another client was granted is not ours. */
  readonly clientId?: string | undefined;
}

/** What one issuer has given us for one resource. */
export interface Grant {
  /** Our registration, or the client id that stands for one. */
  readonly client?: StoredOAuthClientInformation | undefined;
  /** The redirect address we registered with. */
  readonly redirectUri?: string | undefined;
  readonly tokens?: StoredOAuthTokens | undefined;
  /** When the access token was saved and when it ends, in milliseconds since 1970. Absent: its issuer did not say. */
  readonly savedAtMs?: number | undefined;
  readonly expiresAtMs?: number | undefined;
}

/** Everything that is known about signing in at one resource. */
export interface CredentialRecord {
  readonly resource: string;
  readonly clientId?: string | undefined;
  /** Whose tokens are used. */
  readonly issuer?: string | undefined;
  readonly grants: Readonly<Record<string, Grant>>;
  /** Where the server said its metadata is. */
  readonly resourceMetadataUrl?: string | undefined;
  /** What the server asked for when the tokens did not suffice: the next sign-in asks for it. */
  readonly wantedScope?: string | undefined;
}

/** Changes a record while it cannot change under one's hands. Undefined leaves it as it is. */
type ChangeRecord = (record: CredentialRecord) => CredentialRecord | undefined | Promise<CredentialRecord | undefined>;

/** Where credentials are kept. */
export interface Credentials {
  read(key: CredentialKey): Promise<CredentialRecord>;
  /** Under the lock, so that of several processes one at a time renews. Returns what is there afterwards. */
  update(key: CredentialKey, change: ChangeRecord, signal?: AbortSignal): Promise<CredentialRecord>;
  /** Tells when a record may have changed; absent where nobody else can change it. */
  watch?(key: CredentialKey, listener: () => void): Disposable | undefined;
}

const VERSION = 1;

// What the SDK hands us is kept as it is: it may have fields that we do not know.
const grantSchema = z.object({
  client: z.looseObject({ client_id: z.string() }).optional(),
  redirectUri: z.string().optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
  savedAtMs: z.number().optional(),
  expiresAtMs: z.number().optional(),
});

const fileSchema = z.object({
  version: z.literal(VERSION),
  resource: z.string(),
  clientId: z.string().optional(),
  issuer: z.string().optional(),
  grants: z.record(z.string(), grantSchema),
  resourceMetadataUrl: z.string().optional(),
  wantedScope: z.string().optional(),
});

/** Credentials in `<home>/credentials/`: the folder for its owner only, every file with mode 0600. */
export class CredentialStore implements Credentials {
  readonly folder: string;

  constructor(home: string) {
    this.folder = join(home, "credentials");
  }

  async read(key: CredentialKey): Promise<CredentialRecord> {
    return (await this.#read(this.#path(key))) ?? emptyRecord(key);
  }

  async update(key: CredentialKey, change: ChangeRecord, signal?: AbortSignal): Promise<CredentialRecord> {
    await this.#makeFolder();
    const path = this.#path(key);
    return await withFileLock(
      `${path}.lock`,
      async (lock) => {
        const before = (await this.#read(path)) ?? emptyRecord(key);
        const after = await change(before);
        if (after === undefined) return before;
        await lock.check();
        await writeFileAtomically(path, `${JSON.stringify({ version: VERSION, ...after }, null, 2)}\n`, {
          mode: 0o600,
          folderMode: 0o700,
          forceMode: true,
        });
        return after;
      },
      { signal },
    );
  }

  watch(key: CredentialKey, listener: () => void): Disposable | undefined {
    const name = basename(this.#path(key));
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      const watcher = watch(this.folder, { persistent: false }, (_, changed) => {
        if (changed === null || changed === name) listener();
      });
      watcher.on("error", () => watcher.close());
      return { [Symbol.dispose]: () => watcher.close() };
    } catch (error) {
      // A system that has no more watches to give. What has changed is found at the next call then.
      if (systemCodeOf(error) !== undefined) return undefined;
      throw error;
    }
  }

  /** Forgets everything about a resource, the registration included. */
  async remove(key: CredentialKey, signal?: AbortSignal): Promise<void> {
    const path = this.#path(key);
    await this.#makeFolder();
    await withFileLock(`${path}.lock`, () => rm(path, { force: true }), { signal });
  }

  #path({ resource, clientId = "" }: CredentialKey): string {
    const name = createHash("sha256")
      .update(JSON.stringify([resource, clientId]))
      .digest("hex")
      .slice(0, 32);
    return join(this.folder, `${name}.json`);
  }

  async #makeFolder(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    // The mode given to mkdir is cut by the umask, and does nothing to a folder that is there.
    await chmod(this.folder, 0o700);
  }

  async #read(path: string): Promise<CredentialRecord | undefined> {
    let text: string;
    try {
      text = await readFile(path, "utf8");
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
    const parsed = fileSchema.safeParse(parseJson(text));
    if (parsed.success) {
      const { version: _, ...record } = parsed.data;
      return record as CredentialRecord; // The schema keeps the SDK's objects loose; they were written from its own types.
    }
    // The cause would quote the file.
    throw new TrunklineError("CONFIG_INVALID", `${path} cannot be read as credentials.`, {
      hint: "Delete it and sign in again.",
    });
  }
}

/** Credentials of a hub without a home: they last as long as it does. */
export class MemoryCredentials implements Credentials {
  readonly #records = new Map<string, CredentialRecord>();
  readonly #turns = new Map<string, Promise<unknown>>();

  async read(key: CredentialKey): Promise<CredentialRecord> {
    return this.#records.get(idOf(key)) ?? emptyRecord(key);
  }

  async update(key: CredentialKey, change: ChangeRecord): Promise<CredentialRecord> {
    const id = idOf(key);
    const before = this.#turns.get(id) ?? Promise.resolve();
    const turn = before
      .catch(() => {})
      .then(async () => {
        const record = await this.read(key);
        const after = (await change(record)) ?? record;
        this.#records.set(id, after);
        return after;
      });
    this.#turns.set(id, turn);
    return await turn;
  }
}

/** The grant in use. */
export function currentGrant(record: CredentialRecord): Grant | undefined {
  return record.issuer === undefined ? undefined : grantOf(record, record.issuer);
}

/** The grant of an issuer. */
export function grantOf(record: CredentialRecord, issuer: string): Grant | undefined {
  const name = issuerName(issuer);
  return Object.hasOwn(record.grants, name) ? record.grants[name] : undefined;
}

/** The record with the grant of one issuer changed. */
export function withGrant(record: CredentialRecord, issuer: string, change: Partial<Grant>): CredentialRecord {
  const name = issuerName(issuer);
  return { ...record, grants: { ...record.grants, [name]: { ...grantOf(record, name), ...change } } };
}

/** An issuer's name with and without a slash at its end is the same issuer. */
function issuerName(issuer: string): string {
  return issuer.replace(/\/$/, "");
}

function emptyRecord({ resource, clientId }: CredentialKey): CredentialRecord {
  return { resource, ...(clientId === undefined ? {} : { clientId }), grants: {} };
}

function idOf({ resource, clientId = "" }: CredentialKey): string {
  return JSON.stringify([resource, clientId]);
}
