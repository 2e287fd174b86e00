// What `trunkline` alone says: where the user stands, and the one command to run next.
import { printable } from "@trunkline/core";
import { quantity } from "../../terminal/trust-prompt.js";

/** What is set up so far. Names are as written in files, so they are made printable here. */
export interface Standing {
  /** Servers that are not disabled. */
  readonly servers: readonly {
    readonly name: string;
    /** `unusable`: its entry is well-formed, but something it needs is missing. */
    readonly state: "ready" | "not approved" | "needs workspace" | "unusable";
    /** How many tools it listed when it was last connected; undefined if it never was. */
    readonly tools: number | undefined;
  }[];
  readonly disabled: number;
  /** Mistakes in configuration files. */
  readonly problems: number;
  /** Servers of other programs that are not configured here, by program. Only looked for if there is no server. */
  readonly importable: readonly { readonly title: string; readonly count: number }[];
  /** A database that the user named; or the project's store, or else the user's own; undefined if there is none. */
  readonly store:
    | { readonly path: string; readonly isProjects: boolean; readonly isKnown: boolean }
    | { readonly database: string }
    | undefined;
  /** Whether `trunkline init` could create a store here. */
  readonly canInit: boolean;
  /** Agent programs on this machine. */
  readonly programs: readonly {
    readonly id: string;
    readonly title: string;
    readonly hasTrunkline: boolean;
    /** Why its file cannot be used. */
    readonly problem?: string;
  }[];
}

interface NextStep {
  readonly why: string;
  readonly command: string;
}

/** Returns the first thing that is missing; undefined if everything is set up. */
export function nextStep(standing: Standing): NextStep | undefined {
  const { servers, importable, problems, store } = standing;
  const programs = standing.programs.filter(({ problem }) => problem === undefined);
  const named = (state: string) => servers.filter((server) => server.state === state).map(({ name }) => name);
  if (problems > 0) return { why: "find out what is wrong with the configuration", command: "trunkline doctor" };
  if (servers.length === 0 && standing.disabled > 0)
    return { why: "choose a server to enable", command: "trunkline servers" };
  if (servers.length === 0 && importable.length > 0)
    return {
      why: `use the servers of ${shortList(importable.map(({ title }) => title))}`,
      command: "trunkline setup",
    };
  if (servers.length === 0) {
    const command = "trunkline servers add demo -- npx -y @modelcontextprotocol/server-everything";
    return { why: "add a server; this one is made for trying things out", command };
  }
  if (named("not approved").length > 0)
    return { why: "review and approve what this project would run", command: "trunkline trust" };
  if (named("needs workspace").length > 0)
    return { why: "approve this workspace for your own servers", command: "trunkline trust --workspace" };
  const unseen = servers.filter(({ state, tools }) => state === "unusable" || tools === undefined);
  if (unseen.length > 0) {
    const names = shortList(unseen.map(({ name }) => name));
    return { why: `check that ${names} ${unseen.length === 1 ? "works" : "work"}`, command: "trunkline doctor" };
  }
  if (store !== undefined && "path" in store && store.isProjects && !store.isKnown)
    return { why: "approve this project's store, which you did not create here", command: "trunkline trust --store" };
  if (store === undefined && standing.canInit)
    return { why: "give your agent a memory of this project", command: "trunkline init" };
  const [program] = programs;
  const broken = standing.programs.find(({ problem }) => problem !== undefined);
  if (program === undefined && broken !== undefined)
    return {
      why: `fix the file of ${broken.title}, then give it all of this`,
      command: `trunkline install ${broken.id}`,
    };
  if (program === undefined)
    return { why: "serve all of this to an MCP client that you configure yourself", command: "trunkline serve --http" };
  if (!programs.some(({ hasTrunkline }) => hasTrunkline))
    return { why: `give ${program.title} all of this`, command: `trunkline install ${program.id}` };
  return undefined;
}

/** Returns label and text of each line about what is set up. */
export function describeStanding(standing: Standing): [label: string, text: string][] {
  return [
    ["servers", serversText(standing)],
    ["store", storeText(standing)],
    ["agents", agentsText(standing)],
    ...standing.programs.flatMap(({ problem }): [string, string][] =>
      problem === undefined ? [] : [["problem", printable(problem)]],
    ),
  ];
}

function serversText({ servers, disabled, problems, importable }: Standing): string {
  const waiting = ["not approved", "needs workspace", "unusable"] as const;
  const labels = { "not approved": "not approved", "needs workspace": "waiting for approval", unusable: "not usable" };
  const tools = servers.reduce((sum, server) => sum + (server.tools ?? 0), 0);
  const unseen = servers.filter((server) => server.state === "ready" && server.tools === undefined).length;
  const facts = [
    servers.length === 0 ? "none" : `${servers.length} (${shortList(servers.map(({ name }) => name))})`,
    ...(tools === 0 ? [] : [quantity(tools, "tool")]),
    ...waiting.flatMap((state) => {
      const count = servers.filter((server) => server.state === state).length;
      return count === 0 ? [] : [`${count} ${labels[state]}`];
    }),
    ...(unseen === 0 ? [] : [`${unseen} not connected yet`]),
    ...(disabled === 0 ? [] : [`${disabled} disabled`]),
    ...(problems === 0 ? [] : [`${quantity(problems, "problem")} in the configuration`]),
  ];
  const elsewhere = importable.map(({ title, count }) => `${count} in ${title}`).join(", ");
  return `${facts.join(", ")}${elsewhere === "" ? "" : `; not moved here yet: ${elsewhere}`}`;
}

function storeText({ store }: Standing): string {
  if (store === undefined) return "none";
  if ("database" in store) return `PostgreSQL, ${printable(store.database)}`;
  const path = printable(store.path);
  if (!store.isProjects) return `your own, in ${path}; none for this project`;
  return `${path}${store.isKnown ? "" : ", not approved"}`;
}

function agentsText({ programs }: Standing): string {
  const titles = (state: string) =>
    programs
      .filter(({ hasTrunkline, problem }) => state === (problem !== undefined ? "broken" : String(hasTrunkline)))
      .map(({ title }) => title);
  const [having, lacking, broken] = [titles("true"), titles("false"), titles("broken")];
  if (programs.length === 0) return "none found on this machine";
  const facts = having.length === 0 ? [] : [shortList(having)];
  if (lacking.length > 0)
    facts.push(
      having.length === 0 ? `${shortList(lacking)}, without Trunkline` : `without Trunkline: ${shortList(lacking)}`,
    );
  if (broken.length > 0) facts.push(`with a file that cannot be used: ${shortList(broken)}`);
  return facts.join("; ");
}

function shortList(names: readonly string[]): string {
  const more = names.length - 3;
  const shown = names.slice(0, 3).map((name) => printable(name));
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
