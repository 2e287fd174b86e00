// What a person does with a server: connect, restart, stop, enable, disable, sign in.
import type { Hub, SignInRequest } from "@trunkline/client";
import { linkProblem, SIGN_IN_TOOL } from "@trunkline/client/internal";
import type { ServerAction } from "@trunkline/console/contract";
import { messageOf, TrunklineError } from "@trunkline/core";
import type { App } from "../app/app.js";
import { editServer } from "../app/server-entry.js";
import { collecting } from "./new-servers.js";

export async function actOn(app: App, server: string, action: ServerAction): Promise<void> {
  switch (action) {
    case "connect":
      // Its state says whether that worked.
      return await (await app.hub()).connect([server]);
    case "restart":
      return await (await app.hub()).restart(server);
    case "stop":
      return await (await app.hub()).stop(server);
    case "enable":
    case "disable": {
      const { files } = await app.config();
      await editServer(collecting(app.context).context, files, { op: action, name: server });
      return await app.refreshConfig();
    }
    default:
      throw new TrunklineError("INVALID_ARGUMENT", `There is no action "${String(action satisfies never)}".`);
  }
}

interface SignInPage {
  readonly url: string;
  readonly host: string;
}

/** Sign-ins that wait for a person in the browser. */
export class SignIns {
  readonly #pending = new Map<string, Promise<SignInPage>>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Begins a sign-in, or returns the page of the one that is still open. It completes in the background. */
  async begin(app: App, workspace: string, server: string): Promise<SignInPage> {
    const key = `${workspace} ${server}`;
    const known = this.#pending.get(key);
    if (known !== undefined) return await known;
    const page = this.#begin(app, server, () => {
      this.#pending.delete(key);
      this.#onChange();
    });
    this.#pending.set(key, page);
    return await page;
  }

  #begin(app: App, server: string, onEnd: () => void): Promise<SignInPage> {
    return new Promise((resolve, reject) => {
      const run = async () => {
        const hub = await app.hub();
        await needSignIn(hub, server);
        const signIn = async ({ url }: SignInRequest) => {
          const problem = linkProblem(url);
          if (problem !== undefined) {
            reject(new TrunklineError("DENIED", `The sign-in page of "${server}" was not opened: ${problem}.`));
            return "cancelled" as const;
          }
          resolve({ url, host: new URL(url).host });
          return "completed" as const;
        };
        await hub.callTool(server, SIGN_IN_TOOL, {}, { channel: { name: "console", signIn }, signal: app.signal });
        // Without a question, someone has signed in elsewhere meanwhile.
        reject(new TrunklineError("USAGE", `"${server}" does not need a sign-in any more.`));
      };
      run()
        .catch((error: unknown) => {
          app.context.logger.info("a sign-in did not complete", { server, error: messageOf(error) });
          reject(error);
        })
        .finally(onEnd);
    });
  }
}

async function needSignIn(hub: Hub, server: string): Promise<void> {
  const state = () => hub.status().find(({ name }) => name === server)?.state;
  if (state() !== "needs-auth") await hub.connect([server]);
  if (state() === "needs-auth") return;
  throw new TrunklineError("USAGE", `"${server}" does not need a sign-in.`);
}
