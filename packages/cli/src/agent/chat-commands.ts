// The commands inside a chat. Their output goes to stderr: stdout is for answers.
import { nearestNames, printable } from "@trunkline/core";
import { openApp } from "../app/app.js";
import type { CommandContext } from "../terminal/context.js";
import { table } from "../terminal/table.js";
import type { AgentSession } from "./agent-session.js";

const HELP: Readonly<Record<string, string>> = {
  "/tools": "list the model's tools",
  "/servers": "list the servers and their state",
  "/clear": "forget the conversation so far",
  "/model": "show the model; /model <name> changes it",
  "/help": "this list",
  "/exit": "end the chat, like Ctrl-D",
};

export const CHAT_COMMANDS = Object.keys(HELP);

interface ChatCommandOptions {
  readonly session: AgentSession;
  readonly clear: () => Promise<void>;
  readonly mcp: string | undefined;
}

/** Whether an entry is a command: a slash and one word, so a path is not one. */
export function isChatCommand(text: string): boolean {
  return /^\/[a-z]+(\s[^\n]*)?$/i.test(text.trim());
}

/** Runs a command. Returns whether the chat continues. */
export async function runChatCommand(
  context: CommandContext,
  text: string,
  { session, clear, mcp }: ChatCommandOptions,
): Promise<boolean> {
  const [name = "", ...words] = text.trim().split(/\s+/);
  switch (name.toLowerCase()) {
    case "/exit":
    case "/quit":
      return false;
    case "/help":
      for (const line of table(Object.entries(HELP).map(([command, what]) => [command, what]))) context.note(line);
      context.note("For several lines, end a line with a backslash, or put ``` before and after.");
      return true;
    case "/clear":
      await clear();
      context.note("Forgotten.");
      return true;
    case "/model":
      if (words[0] !== undefined) session.changeModel(words[0]);
      context.note(`${session.model.provider}/${session.model.id}`);
      return true;
    case "/tools":
      showTools(context, session);
      return true;
    case "/servers":
      await showServers(context, session, mcp);
      return true;
    default: {
      const near = nearestNames(name, CHAT_COMMANDS);
      context.note(
        `Unknown command ${name}.${near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : " /help lists the commands."}`,
      );
      return true;
    }
  }
}

function showTools(context: CommandContext, { tools }: AgentSession): void {
  if (tools.length === 0) {
    context.note("The model has no tools. Start with --tool <name>, or with --surface composite.");
    return;
  }
  const rows = tools.map(({ title, description, readOnly }) => [
    printable(title),
    readOnly ? "" : "asks first",
    printable(description.trim().split("\n", 1)[0]?.slice(0, 80) ?? ""),
  ]);
  for (const line of table(rows)) context.note(line);
}

async function showServers(context: CommandContext, session: AgentSession, mcp: string | undefined): Promise<void> {
  const hub = await session.hub();
  if (hub === undefined) {
    const { servers } = await openApp(context, { mcp, config: "own" }).config();
    const names = servers.map(({ name }) => printable(name));
    context.note(names.length === 0 ? "No server is configured." : `Configured, none in use: ${names.join(", ")}.`);
    return;
  }
  const rows = hub
    .status()
    .map(({ name, state, toolCount, error }) => [
      printable(name),
      state,
      state === "connected" ? `${toolCount} tools` : printable(error?.message ?? ""),
    ]);
  for (const line of table(rows)) context.note(line);
}
