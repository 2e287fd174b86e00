// The project files the user has approved, and in which state. Stored in the home folder, never in the project: a
// project must not be able to approve itself.
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  isAbsent,
  isRecord,
  isRecordOf,
  isString,
  isWithin,
  parseJson,
  resolvedPath,
  systemCodeOf,
  TrunklineError,
  writeFileAtomically,
} from "@trunkline/core";

/** A file in a particular state: the fingerprint covers what it would run. */
export interface TrustSubject {
  readonly path: string;
  readonly fingerprint: string;
  /** The names of its disabled entries: their approval ends when they are turned on. */
  readonly disabledServers?: readonly string[];
}

/** An approved file. */
interface TrustedFile extends Pick<TrustSubject, "path" | "fingerprint"> {
  /** When it was approved, in ISO 8601. */
  readonly confirmedAt: string;
}

const VERSION = 2;

interface Content {
  version: typeof VERSION;
  /** `disabled`: the entries that the user saw as disabled. Earlier versions did not record them. */
  files: Record<string, { fingerprint: string; confirmedAt: string; disabled?: string[] }>;
  workspaces: Record<string, { confirmedAt: string; endpoint?: string }>;
  /** The secrets that files were granted, by label. */
  secrets: Record<string, { fingerprint: string; names: string[] }>;
  /** Files approved by a version whose fingerprints covered less. They have to be approved again. */
  former: string[];
}

/** Reads the content of the file; undefined if it is not valid. Version 1 had fingerprints that covered less. */
function contentOf(json: unknown): Content | undefined {
  if (!isRecord(json)) return undefined;
  const { version, files, workspaces, former, secrets = {} } = json;
  if (!isRecordOf(files, isApproval)) return undefined;
  if (version === 1) return { version: VERSION, files: {}, workspaces: {}, secrets: {}, former: Object.keys(files) };
  if (version !== VERSION || !isRecordOf(workspaces, isWorkspace)) return undefined;
  if (!isRecordOf(secrets, isGrant)) return undefined;
  if (!Array.isArray(former) || !former.every(isString)) return undefined;
  return { version, files, workspaces, secrets, former };
}

function isApproval(value: unknown): value is Content["files"][string] {
  if (!isRecord(value) || !isString(value.fingerprint) || !isString(value.confirmedAt)) return false;
  return value.disabled === undefined || (Array.isArray(value.disabled) && value.disabled.every(isString));
}

function isGrant(value: unknown): value is Content["secrets"][string] {
  return isRecord(value) && isString(value.fingerprint) && Array.isArray(value.names) && value.names.every(isString);
}

function isWorkspace(value: unknown): value is Content["workspaces"][string] {
  return isRecord(value) && isString(value.confirmedAt) && (value.endpoint === undefined || isString(value.endpoint));
}

/**
 * One user's approvals, in `<home>/trust.json`. Every call re-reads the file, because other processes also write to it.
 */
export class TrustStore {
  readonly path: string;

  constructor(home: string) {
    this.path = join(home, "trust.json");
  }

  /** Whether the file was approved and would still run the same things. What was approved as disabled must still be. */
  isTrusted = async (subject: TrustSubject): Promise<boolean> => {
    const { disabledServers = [] } = subject;
    const approval = approvalOf(await this.#read(), subject, await keyOf(subject.path));
    return approval?.disabled?.every((name) => disabledServers.includes(name)) ?? approval !== undefined;
  };

  /**
   * Records what is disabled in files that an earlier version approved without recording it: turning that on is a new
   * question. Does nothing if the list cannot be written.
   */
  async recordDisabled(...subjects: readonly TrustSubject[]): Promise<void> {
    if (subjects.length === 0) return;
    const content = await this.#read();
    let isChanged = false;
    for (const subject of subjects) {
      const approval = approvalOf(content, subject, await keyOf(subject.path));
      if (approval === undefined || approval.disabled !== undefined) continue;
      approval.disabled = [...(subject.disabledServers ?? [])];
      isChanged = true;
    }
    if (!isChanged) return;
    try {
      await this.#write(content);
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
    }
  }

  /** Approves the files as they are, replacing earlier approvals. */
  async confirm(...subjects: readonly TrustSubject[]): Promise<void> {
    if (subjects.length === 0) return;
    const content = await this.#read();
    const confirmedAt = new Date().toISOString();
    for (const { path, fingerprint, disabledServers = [] } of subjects) {
      const key = await keyOf(path);
      content.files[key] = { fingerprint, confirmedAt, disabled: [...disabledServers] };
      content.former = content.former.filter((former) => former !== key);
    }
    await this.#write(content);
  }

  /** Returns the secrets that the file was granted in this state, by label. */
  grantedSecrets = async (subject: TrustSubject): Promise<readonly string[]> => {
    const { secrets } = await this.#read();
    const key = await keyOf(subject.path);
    const grant = Object.hasOwn(secrets, key) ? secrets[key] : undefined;
    return grant?.fingerprint === subject.fingerprint ? grant.names : [];
  };

  /** Grants a file these secrets, in addition to those it has in this state. */
  async grantSecrets(subject: TrustSubject, names: readonly string[]): Promise<void> {
    const earlier = await this.grantedSecrets(subject);
    const content = await this.#read();
    const { fingerprint } = subject;
    content.secrets[await keyOf(subject.path)] = { fingerprint, names: [...new Set([...earlier, ...names])].sort() };
    await this.#write(content);
  }

  /** Revokes approvals and granted secrets; returns the paths that had one. */
  async revoke(...paths: readonly string[]): Promise<string[]> {
    const content = await this.#read();
    const revoked: string[] = [];
    for (const path of paths) {
      const key = await keyOf(path);
      if (!Object.hasOwn(content.files, key) && !Object.hasOwn(content.secrets, key)) continue;
      delete content.files[key];
      delete content.secrets[key];
      revoked.push(path);
    }
    if (revoked.length > 0) await this.#write(content);
    return revoked;
  }

  /** Whether the file was approved before approvals covered everything they cover now. */
  async wasTrusted(path: string): Promise<boolean> {
    const { former } = await this.#read();
    return former.includes(await keyOf(path));
  }

  /** Whether the user's own servers may use this workspace. */
  isWorkspaceTrusted = async (folder: string): Promise<boolean> => {
    const { workspaces } = await this.#read();
    return Object.hasOwn(workspaces, await resolvedPath(folder));
  };

  /** Whether the user approved this model endpoint, which a file of the workspace sets. */
  async isEndpointTrusted(folder: string, endpoint: string): Promise<boolean> {
    const { workspaces } = await this.#read();
    const real = await resolvedPath(folder);
    // The file can be in the workspace or in the repository around it.
    return Object.entries(workspaces).some(
      ([path, known]) => known.endpoint === endpoint && (isWithin(real, path) || isWithin(path, real)),
    );
  }

  /** Approves a workspace for the user's own servers, and the model endpoint that its `.env` sets, if any. */
  async confirmWorkspace(folder: string, { endpoint }: { endpoint?: string } = {}): Promise<void> {
    const content = await this.#read();
    const confirmedAt = new Date().toISOString();
    content.workspaces[await resolvedPath(folder)] = { confirmedAt, endpoint };
    await this.#write(content);
  }

  /** Revokes the approval of a workspace; false if it had none. */
  async revokeWorkspace(folder: string): Promise<boolean> {
    const content = await this.#read();
    const key = await resolvedPath(folder);
    if (!Object.hasOwn(content.workspaces, key)) return false;
    delete content.workspaces[key];
    await this.#write(content);
    return true;
  }

  /** Lists all approved workspaces, by path. */
  async workspaces(): Promise<{ path: string; confirmedAt: string }[]> {
    const { workspaces } = await this.#read();
    return Object.entries(workspaces)
      .map(([path, { confirmedAt }]) => ({ path, confirmedAt }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Lists all approvals, by path. */
  async list(): Promise<TrustedFile[]> {
    const { files } = await this.#read();
    return Object.entries(files)
      .map(([path, { fingerprint, confirmedAt }]) => ({ path, fingerprint, confirmedAt }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async #read(): Promise<Content> {
    let text: string;
    try {
      // Small, and in Trunkline's own folder: four waits for a thread would take far longer.
      text = readFileSync(this.path, "utf8");
    } catch (error) {
      if (isAbsent(error)) return { version: VERSION, files: {}, workspaces: {}, secrets: {}, former: [] };
      throw error;
    }
    // An unreadable list approves nothing, but must not be overwritten silently either.
    const content = contentOf(parseJson(text));
    if (content !== undefined) return content;
    throw new TrunklineError("CONFIG_INVALID", `${this.path} is not a readable list of approved files.`, {
      hint: "Delete it and approve your projects again with `trunkline trust`.",
    });
  }

  async #write(content: Content): Promise<void> {
    await writeFileAtomically(this.path, `${JSON.stringify(content, null, 2)}\n`, {
      mode: 0o600,
      folderMode: 0o700,
      forceMode: true,
    });
  }
}

/** Returns the approval of a file with this key in this state, whatever is disabled in it. */
function approvalOf(
  { files }: Content,
  { fingerprint }: TrustSubject,
  key: string,
): Content["files"][string] | undefined {
  const approval = Object.hasOwn(files, key) ? files[key] : undefined;
  return approval?.fingerprint === fingerprint ? approval : undefined;
}

/**
 * Returns what the user has approved, as `loadConfig` asks for it. With `TRUNKLINE_TRUST=all` in the environment,
 * everything is.
 */
export function approvalsIn(trust: TrustStore, env: Readonly<Record<string, string | undefined>>) {
  const { isTrusted, isWorkspaceTrusted, grantedSecrets } = trust;
  return { isTrusted, isWorkspaceTrusted, grantedSecrets, trustAll: env.TRUNKLINE_TRUST === "all" };
}

/**
 * Returns the key of a file: its folder without links, and its own name. A link in place of the file has its own key,
 * so approving one file never approves another that leads to it.
 */
async function keyOf(path: string): Promise<string> {
  return join(await resolvedPath(dirname(path)), basename(path));
}
