// Text from outside, such as a registry's, written so that it is never expanded.
import { expandText } from "./expand.js";
import type { Dialect } from "./loaded-config.js";

/**
 * Writes a text so that a file of this dialect means exactly this text: `${NAME}` becomes `\${NAME}`. Returns undefined
 * if the dialect cannot express it, as with `${env:NAME}`.
 */
export function literalText(text: string, dialect: Dialect): string | undefined {
  const written = text.replaceAll("${", "\\${");
  // Whatever the rules of the dialect are, the result has to come out as it went in.
  const { parts, dynamic } = expandText(written, {
    dialect,
    env: () => "expanded",
    workspaceFolder: "/expanded",
    userHome: "/expanded",
    context: {},
    maySee: () => true,
  });
  return parts.length === 1 && parts[0] === text && !dynamic && !written.includes("${input:") ? written : undefined;
}
