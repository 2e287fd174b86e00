// Shared helpers for the sign-in tests: a home folder, an unattended browser, and the server's counters.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browse } from "../../../../test/servers/browser.js";
import type { SignIn } from "../../src/index.js";

/** A home folder that is deleted at the end. */
export class Home implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "trunkline-auth-"));

  get folder(): string {
    return join(this.path, "credentials");
  }

  /** The parsed credential files. */
  files(): { path: string; content: Kept }[] {
    return readdirSync(this.folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => join(this.folder, name))
      .map((path) => ({ path, content: JSON.parse(readFileSync(path, "utf8")) as Kept }));
  }

  /** The only grant. */
  grant(): KeptGrant {
    const [grant] = this.files().flatMap(({ content }) => Object.values(content.grants));
    if (grant === undefined) throw new Error("nothing is kept");
    return grant;
  }

  /** Makes every access token look expired. */
  letTokensEnd(): void {
    for (const { path, content } of this.files()) {
      for (const grant of Object.values(content.grants)) grant.expiresAtMs = 1;
      writeFileSync(path, JSON.stringify(content));
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A grant as saved in the file. */
export interface KeptGrant {
  client?: { client_id: string };
  tokens?: { access_token: string; refresh_token?: string; scope?: string };
  expiresAtMs?: number;
}

interface Kept {
  grants: Record<string, KeptGrant>;
  issuer?: string;
}

/** Signs in immediately, like a user who clicks fast. */
export const byBrowser: SignIn = async ({ url }) => {
  await browse(url);
  return "completed";
};

/** The counters of the test server. */
export interface Counts {
  registrations: number;
  authorizations: number;
  unauthorized: number;
  revocations: number;
  grants: Record<string, number>;
}

export async function countsOf(url: string): Promise<Counts> {
  return (await (await fetch(new URL("/test/counts", url))).json()) as Counts;
}

/** Sends a command to the test server: `expire`, `revoke`, `forget`, `fail-tokens`. */
export async function tell(url: string, what: string): Promise<void> {
  const response = await fetch(new URL(`/test/${what}`, url), { method: "POST" });
  if (!response.ok) throw new Error(`the test server does not know ${what}`);
}
