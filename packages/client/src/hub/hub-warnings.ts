// What did not go as configured, for whoever looks after a hub.
import type { Redactor } from "@trunkline/core";
import type { LoadedConfig } from "../config/loaded-config.js";
import type { HubMember } from "./hub-member.js";
import type { HubWarning } from "./hub-options.js";
import { statusOf } from "./hub-status.js";

/** Remarks on the files, servers that failed, and tools that were left out. */
export function warningsOf(
  { diagnostics }: LoadedConfig,
  members: readonly HubMember[],
  redactor: Redactor,
): readonly HubWarning[] {
  const remarks = diagnostics
    .filter(({ severity }) => severity !== "note")
    .map(({ message, server, file, line }) => ({
      message: `${message} (${file}${line === undefined ? "" : `:${line}`})`,
      ...(server === undefined ? {} : { server }),
    }));
  const failures = members
    .map((member) => statusOf(member, redactor))
    .flatMap(({ name, error, toolsError }) =>
      [error, toolsError].flatMap((problem) =>
        problem === undefined
          ? []
          : [{ message: problem.message, server: name, ...(problem.hint === undefined ? {} : { hint: problem.hint }) }],
      ),
    );
  const leftOut = members.flatMap(({ name, remarks: own }) =>
    own.map((message) => ({ message: redactor.text(message), server: name })),
  );
  return [...redactor.value(remarks), ...failures, ...leftOut];
}
