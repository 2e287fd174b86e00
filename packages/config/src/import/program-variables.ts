// Translates each program's variables to our syntax.
import { variableName } from "../written-entry.js";
import { literalText, type Substitution, translateText } from "./substitution.js";

/** Translates a program's string to ours; `note` receives anything that cannot be expressed exactly. */
type Translate = (text: string, note: (message: string) => void) => string;

const NAME = /^[A-Za-z_]\w*$/;

/** For programs that expand no variables. */
export const asItIs: Translate = literalText;

/** Claude Code and Claude Desktop write `${NAME}` and `${NAME:-default}`, like the `mcpServers` dialect. */
export const likeOurs: Translate = (text) => text;

/** VS Code: `${env:X}`, `${input:x}` and the editor's variables; any other `${…}` is plain text. */
export const vsCode: Translate = bracedVariables((body, note) => {
  if (body.startsWith("input:")) return `\${${body}}`;
  if (/^(config|command):/.test(body)) note(`\${${body}} exists only in VS Code and is now plain text`);
  return editorVariable(body, note);
});

/** Cursor: an editor's variables, and `${NAME}` for the environment. */
export const cursor: Translate = bracedVariables((body, note) => editorVariable(body, note) ?? `\${${body}}`);

/** Windsurf: `${env:X}` and `${file:path}`. */
export const windsurf: Translate = bracedVariables((body, note) =>
  body.startsWith("file:") ? fileVariable(body.slice("file:".length), note) : environment(body),
);

/** Cline: `${env:X}`. */
export const cline: Translate = bracedVariables((body) => environment(body));

/** Kiro: `${NAME}`. */
export const kiro: Translate = bracedVariables((body) => (NAME.test(body) ? `\${${body}}` : undefined));

/** Gemini CLI: `$X`, `${X}` and `${X:-default}`; unset variables stay as they are, as they do here. */
export const gemini: Translate = (text, note) =>
  translateText(
    text,
    {
      pattern: /\$(?:(\w+)|\{([^}]+)\})/g,
      render: ([, bare, braced]) => {
        const [name = "", ...fallback] = (bare ?? braced ?? "").split(":-");
        if (!NAME.test(name)) return undefined;
        return fallback.length === 0 ? `\${${name}}` : `\${${name}:-${fallback.join(":-")}}`;
      },
    },
    note,
  );

/** opencode: `{env:X}`, empty if unset, and `{file:path}`. */
export const opencode: Translate = (text, note) =>
  translateText(
    text,
    {
      pattern: /\{(env|file):([^}]+)\}/g,
      render: ([, kind, body = ""]) => (kind === "file" ? fileVariable(body, note) : environment(`env:${body.trim()}`)),
    },
    note,
  );

function bracedVariables(render: (body: string, note: (message: string) => void) => string | undefined): Translate {
  return (text, note) => {
    const substitution: Substitution = { pattern: /\$\{([^}]+)\}/g, render: ([, body = ""]) => render(body, note) };
    return translateText(text, substitution, note);
  };
}

function environment(body: string): string | undefined {
  return body.startsWith("env:") && NAME.test(body.slice("env:".length)) ? `\${${body}}` : undefined;
}

/** Translates editor variables that our expansion also supports. */
function editorVariable(body: string, note: (message: string) => void): string | undefined {
  switch (body) {
    case "workspaceFolder":
    case "workspaceFolderBasename":
    case "userHome":
    case "pathSeparator":
    case "/":
      return `\${${body}}`;
    default:
      if (!body.startsWith("workspaceFolder:")) return environment(body);
      note("all workspace folders became the one workspace folder");
      return `\${workspaceFolder}`;
  }
}

/**
 * Translates a variable for a file's content, which is usually a secret. Copying secrets into a file that may be shared
 * would be worse than one more step, so the value comes from the environment, and a note tells the user.
 */
function fileVariable(path: string, note: (message: string) => void): string {
  const name = variableName(lastPart(path.trim()));
  note(`the content of ${path.trim()} was not copied: set the environment variable ${name} to it`);
  return `\${${name}}`;
}

function lastPart(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== "") ?? path;
}
