// The hub's reports on its servers: status and warnings, with secrets redacted.

import { type AuthSettings, entryRedactor, type LoadedConfig, type ServerDefinition } from "@trunkline/config";
import { isTrunklineError, REDACTED, type Redactor, redactedArgs, redactedUrl, TrunklineError } from "@trunkline/core";
import type { ServerStatus } from "../catalogue/known-server.js";
import { heldError } from "../pins/server-pins.js";
import type { HubMember } from "./hub-member.js";
import type { HubWarning } from "./hub-options.js";

export function statusOf(member: HubMember, redactor: Redactor, config: LoadedConfig): ServerStatus {
  const { connection, lists } = member;
  const { tools, toolsError } = lists;
  const { definition, state, error, revision, serverInfo, connectedAtMs, roundTripMs, tookMs, pid } = connection;
  const live = state === "connected";
  return {
    name: definition.name,
    state,
    config: redactor.value(hideValues(definition, entryRedactor(config, definition.name))),
    ...(error === undefined ? {} : { error: redactedError(error, redactor) }),
    ...(live && toolsError !== undefined ? { toolsError: redactedError(toolsError, redactor) } : {}),
    toolCount: tools.length,
    resourceCount: member.lists.count("resources"),
    promptCount: member.lists.count("prompts"),
    ...(live && connectedAtMs !== undefined ? { connectedAt: new Date(connectedAtMs).toISOString() } : {}),
    ...(live && revision !== undefined ? { revision } : {}),
    ...(live && serverInfo !== undefined ? { serverInfo } : {}),
    ...(live && roundTripMs !== undefined ? { roundTripMs } : {}),
    ...(live && pid !== undefined ? { pid } : {}),
    tookMs,
    signIn: connection.signIn,
    stderr: connection.stderrTail.map((line) => redactor.text(line)),
  };
}

/** Collects notes on the files, failed servers and skipped tools. */
export function warningsOf(
  config: LoadedConfig,
  members: readonly HubMember[],
  redactor: Redactor,
): readonly HubWarning[] {
  const remarks = config.diagnostics
    .filter(({ severity }) => severity !== "note")
    .map(({ message, server, file, line }) => ({
      message: `${message} (${file}${line === undefined ? "" : `:${line}`})`,
      server,
    }));
  const failures = members
    .map((member) => statusOf(member, redactor, config))
    .flatMap(({ name, error, toolsError }) =>
      [error, toolsError].flatMap((problem) =>
        problem === undefined ? [] : [{ message: problem.message, server: name, hint: problem.hint }],
      ),
    );
  const leftOut = members.flatMap(({ name, lists }) =>
    lists.remarks.map((message) => ({ message: redactor.text(message), server: name })),
  );
  const held = members.flatMap((member) =>
    member.lists.held.map((item) => {
      const { message, hint } = redactedError(heldError(item), redactor);
      return { message, server: member.name, hint };
    }),
  );
  return [...redactor.value(remarks), ...failures, ...leftOut, ...held];
}

/** Copies an error with all known secrets redacted. */
export function redactedError(error: TrunklineError, redactor: Redactor): TrunklineError {
  return new TrunklineError(error.code, redactor.text(error.message), {
    cause: redactedCause(error.cause, redactor),
    ...(error.hint === undefined ? {} : { hint: redactor.text(error.hint) }),
    retryable: error.retryable,
    ...(error.data === undefined ? {} : { data: redactor.value(error.data) }),
  });
}

/** Copies a chain of causes. Only their messages and codes are shown anywhere. */
function redactedCause(cause: unknown, redactor: Redactor, depth = 0): unknown {
  if (!(cause instanceof Error)) return redactor.value(cause);
  if (isTrunklineError(cause)) return redactedError(cause, redactor);
  const { name, code } = cause as Error & { code?: unknown };
  const copy = new Error(redactor.text(cause.message), {
    ...(cause.cause === undefined || depth >= MAX_CAUSES
      ? {}
      : { cause: redactedCause(cause.cause, redactor, depth + 1) }),
  });
  copy.name = name;
  if (cause.stack !== undefined) copy.stack = redactor.text(cause.stack);
  return code === undefined ? copy : Object.assign(copy, { code });
}

const MAX_CAUSES = 8;

/** Secrets are always hidden in their own field, however short. */
function hideValues({ secretReferences: _, ...definition }: ServerDefinition, own: Redactor): ServerDefinition {
  const hide = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.keys(values).map((key) => [key, REDACTED]));
  switch (definition.type) {
    case "stdio":
      return {
        ...definition,
        command: own.text(definition.command),
        args: own.value(redactedArgs(definition.args)),
        env: hide(definition.env),
      };
    case "in-process":
      return definition;
    default:
      return {
        ...definition,
        url: own.text(redactedUrl(definition.url)),
        headers: hide(definition.headers),
        ...(definition.auth === undefined ? {} : { auth: hideSecrets(definition.auth) }),
      };
  }
}

function hideSecrets(auth: AuthSettings): AuthSettings {
  return {
    ...auth,
    ...(auth.clientSecret === undefined ? {} : { clientSecret: REDACTED }),
    ...(auth.privateKey === undefined ? {} : { privateKey: REDACTED }),
  };
}
