// The project files the user has approved, and in which state. Stored in the home folder, never in the project: a
// project must not be able to approve itself.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent, parseJson, resolvedPath, TrunklineError, writeFileAtomically } from "@trunkline/core";

/** A file in a particular state: the fingerprint covers what it would run. */
export interface TrustSubject {
  readonly path: string;
  readonly fingerprint: string;
}

/** An approved file. */
interface TrustedFile extends TrustSubject {
  /** When it was approved, in ISO 8601. */
  readonly confirmedAt: string;
}

const VERSION = 1;

interface Content {
  version: typeof VERSION;
  files: Record<string, { fingerprint: string; confirmedAt: string }>;
}

/**
 * One user's approvals, in `<home>/trust.json`. Every call re-reads the file, because other processes also write to it.
 */
export class TrustStore {
  readonly path: string;
  readonly #now: () => Date;

  constructor(home: string, options: { now?: () => Date } = {}) {
    this.path = join(home, "trust.json");
    this.#now = options.now ?? (() => new Date());
  }

  /** Whether the file was approved and would still run the same things. */
  isTrusted = async (subject: TrustSubject): Promise<boolean> => {
    const { files } = await this.#read();
    const key = await resolvedPath(subject.path);
    return Object.hasOwn(files, key) && files[key]?.fingerprint === subject.fingerprint;
  };

  /** Approves the files as they are, replacing earlier approvals. */
  async confirm(...subjects: readonly TrustSubject[]): Promise<void> {
    if (subjects.length === 0) return;
    const content = await this.#read();
    const confirmedAt = this.#now().toISOString();
    for (const { path, fingerprint } of subjects) {
      content.files[await resolvedPath(path)] = { fingerprint, confirmedAt };
    }
    await this.#write(content);
  }

  /** Revokes approvals; returns the paths that had one. */
  async revoke(...paths: readonly string[]): Promise<string[]> {
    const content = await this.#read();
    const revoked: string[] = [];
    for (const path of paths) {
      const key = await resolvedPath(path);
      if (!Object.hasOwn(content.files, key)) continue;
      delete content.files[key];
      revoked.push(path);
    }
    if (revoked.length > 0) await this.#write(content);
    return revoked;
  }

  /** Lists all approvals, by path. */
  async list(): Promise<TrustedFile[]> {
    const { files } = await this.#read();
    return Object.entries(files)
      .map(([path, file]) => ({ path, ...file }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async #read(): Promise<Content> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      if (isAbsent(error)) return { version: VERSION, files: {} };
      throw error;
    }
    // An unreadable list approves nothing, but must not be overwritten silently either.
    const { keptTrust } = await import("./kept-files.js");
    const parsed = keptTrust.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    throw new TrunklineError("CONFIG_INVALID", `${this.path} is not a readable list of approved files.`, {
      cause: parsed.error,
      hint: "Delete it and confirm your projects again with `trunkline trust`.",
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
