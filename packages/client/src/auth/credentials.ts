// Sign-in data stored between runs: the registration, the tokens and their origin. One file per resource, so refreshing
// one sign-in never waits for another; in each file, one grant per issuer.
import { createHash } from "node:crypto";
import { mkdirSync, watch } from "node:fs";
import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import {
  isAbsent,
  isRecord,
  isRecordOf,
  isString,
  parseJson,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";
import { withFileLock } from "./file-lock.js";

/** The key of a stored sign-in, besides its issuer. */
export interface CredentialKey {
  /** The server's URL, without a fragment. */
  readonly resource: string;
  /** The client id in the entry, if it has one: another client's grants are not ours. */
  readonly clientId?: string;
}

/** Everything one issuer has granted us for one resource. */
export interface Grant {
  /** Our registration, or the client id that replaces it. */
  readonly client?: StoredOAuthClientInformation;
  /** The redirect URI we registered with. */
  readonly redirectUri?: string;
  readonly tokens?: StoredOAuthTokens;
  /**
   * When the access token was saved and when it expires, in milliseconds since 1970. The expiry is absent if the issuer
   * did not give one.
   */
  readonly savedAtMs?: number;
  readonly expiresAtMs?: number;
}

/** Everything known about signing in to one resource. */
export interface CredentialRecord {
  readonly resource: string;
  readonly clientId?: string;
  /** The issuer whose tokens are used. */
  readonly issuer?: string;
  readonly grants: Readonly<Record<string, Grant>>;
  /** The metadata URL the server gave. */
  readonly resourceMetadataUrl?: string;
  /** The scope the server asked for when the tokens were insufficient; the next sign-in requests it. */
  readonly wantedScope?: string;
}

/** Changes a record under its lock. Returning undefined leaves it unchanged. */
type ChangeRecord = (record: CredentialRecord) => CredentialRecord | undefined | Promise<CredentialRecord | undefined>;

/** Where credentials are stored. */
export interface Credentials {
  read(key: CredentialKey): Promise<CredentialRecord>;
  /** Changes a record under its lock, so only one process refreshes at a time. Returns the new record. */
  update(key: CredentialKey, change: ChangeRecord, signal?: AbortSignal): Promise<CredentialRecord>;
  /** Calls the listener when a record may have changed; absent if nothing else can change it. */
  watch?(key: CredentialKey, listener: () => void): Disposable | undefined;
}

const VERSION = 1;

/** Stores credentials in `<home>/credentials/`. The folder is private to its owner, and every file has mode 0600. */
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
      // The system is out of watches. The next call will find the changes.
      if (systemCodeOf(error) !== undefined) return undefined;
      throw error;
    }
  }

  /** Removes everything about a resource, including the registration. */
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
    // mkdir applies the umask to the mode, and does not change an existing folder.
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
    const json = parseJson(text);
    if (isRecord(json) && json.version === VERSION) {
      const { version: _, ...record } = json;
      if (isCredentialRecord(record)) return record;
    }
    // No `cause`: it would quote the file.
    throw new TrunklineError("CONFIG_INVALID", `Cannot read ${path}: not a valid credentials file.`, {
      hint: "Delete it and sign in again.",
    });
  }
}

function isCredentialRecord(value: Record<string, unknown>): value is Record<string, unknown> & CredentialRecord {
  const { resource, clientId, issuer, grants, resourceMetadataUrl, wantedScope } = value;
  const optional = [clientId, issuer, resourceMetadataUrl, wantedScope];
  return isString(resource) && optional.every(isOptionalString) && isRecordOf(grants, isGrant);
}

/** The SDK's objects are stored unchanged: they can have fields that we do not know. */
function isGrant(value: unknown): value is Grant {
  if (!isRecord(value)) return false;
  const { client, redirectUri, tokens, savedAtMs, expiresAtMs } = value;
  if (client !== undefined && !(isRecord(client) && isString(client.client_id))) return false;
  if (tokens !== undefined && !(isRecord(tokens) && isString(tokens.access_token) && isString(tokens.token_type)))
    return false;
  return isOptionalString(redirectUri) && [savedAtMs, expiresAtMs].every(isOptionalTime);
}

function isOptionalString(value: unknown): value is string | undefined {
  return value === undefined || isString(value);
}

function isOptionalTime(value: unknown): boolean {
  return value === undefined || Number.isFinite(value);
}

/** Credentials of a hub without a home folder; they live as long as the hub. */
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

export function currentGrant(record: CredentialRecord): Grant | undefined {
  return record.issuer === undefined ? undefined : grantOf(record, record.issuer);
}

export function grantOf(record: CredentialRecord, issuer: string): Grant | undefined {
  const name = issuerName(issuer);
  return Object.hasOwn(record.grants, name) ? record.grants[name] : undefined;
}

/** Returns the record with one issuer's grant changed. */
export function withGrant(record: CredentialRecord, issuer: string, change: Partial<Grant>): CredentialRecord {
  const name = issuerName(issuer);
  return { ...record, grants: { ...record.grants, [name]: { ...grantOf(record, name), ...change } } };
}

/** Normalizes an issuer: a trailing slash makes no difference. */
function issuerName(issuer: string): string {
  return issuer.replace(/\/$/, "");
}

function emptyRecord({ resource, clientId }: CredentialKey): CredentialRecord {
  return { resource, clientId, grants: {} };
}

function idOf({ resource, clientId = "" }: CredentialKey): string {
  return JSON.stringify([resource, clientId]);
}
