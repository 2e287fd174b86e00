// The words and colours of states, and what a person can do in each of them.
import type { ServerAction, ServerRow } from "@trunkline/console/contract";
import type { Tone } from "../../kit/parts.js";

type State = ServerRow["state"];

interface StateLook {
  readonly word: string;
  readonly tone: Tone;
  readonly hollow?: boolean;
  readonly beating?: boolean;
  /** What the word means, for those who want to know. */
  readonly about?: string;
}

export const STATES: Readonly<Record<State, StateLook>> = {
  connected: { word: "Connected", tone: "ok" },
  connecting: { word: "Connecting", tone: "info", beating: true },
  idle: { word: "Idle", tone: "ok", hollow: true, about: "Stopped until its next call. Its tools stay listed." },
  "not-connected": {
    word: "Not connected",
    tone: "plain",
    hollow: true,
    about: "It has not been used yet. Its first call connects it.",
  },
  failed: { word: "Failed", tone: "bad" },
  "needs-auth": { word: "Needs a sign-in", tone: "warn" },
  untrusted: { word: "Not approved", tone: "warn", about: "It comes from a project file that you have not approved." },
  disabled: { word: "Disabled", tone: "plain", hollow: true },
  rejected: { word: "Invalid entry", tone: "bad" },
};

/** Whether a person has to do something before the server can be used. */
export function needsPerson({ state, problem, held }: ServerRow): boolean {
  return held > 0 || (problem !== undefined && state !== "disabled" && state !== "connecting");
}

interface ActionLook {
  readonly action: ServerAction;
  readonly label: string;
  readonly icon: "play" | "restart" | "stop" | "check" | "close";
}

const CONNECT: ActionLook = { action: "connect", label: "Connect", icon: "play" };
const RESTART: ActionLook = { action: "restart", label: "Restart", icon: "restart" };
const STOP: ActionLook = { action: "stop", label: "Stop", icon: "stop" };
const ENABLE: ActionLook = { action: "enable", label: "Enable", icon: "check" };
const DISABLE: ActionLook = { action: "disable", label: "Disable", icon: "close" };

/** The most likely action first. Signing in is apart: it needs a browser. */
export function actionsIn(state: State): readonly ActionLook[] {
  switch (state) {
    case "connected":
      return [RESTART, STOP, DISABLE];
    case "idle":
    case "not-connected":
      return [CONNECT, DISABLE];
    case "connecting":
      return [DISABLE];
    case "failed":
      return [{ ...CONNECT, label: "Try again", icon: "restart" }, DISABLE];
    case "needs-auth":
    case "untrusted":
      return [DISABLE];
    case "disabled":
      return [ENABLE];
    case "rejected":
      return [];
  }
}
