// How each program writes variables, and what they are in our words.
import { variableName } from "../written-entry.js";
import { literalText, type Substitution, translateText } from "./substitution.js";

/** A text of a program in our words; `note` is told what cannot be said exactly. */
type Translate = (text: string, note: (message: string) => void) => string;

const NAME = /^[A-Za-z_]\w*$/;

/** For programs that substitute nothing. */
export const asItIs: Translate = literalText;

/** Claude Code and Claude Desktop write `${NAME}` and `${NAME:-default}`, as the `mcpServers` dialect does. */
export const likeOurs: Translate = (text) => text;

/** VS Code: `${env:X}`, `${input:x}` and the variables of the editor; any other `${…}` is plain text. */
export const vsCode: Translate = bracedVariables((body, note) => {
  if (body.startsWith("input:")) return `\${${body}}`;
  if (/^(config|command):/.test(body)) note(`\${${body}} exists only in VS Code and is now plain text`);
  return editorVariable(body, note);
});

/** Cursor has the variables of an editor, and `${NAME}` is the environment. */
export const cursor: Translate = bracedVariables((body, note) => editorVariable(body, note) ?? `\${${body}}`);

/** Windsurf: `${env:X}` and `${file:path}`. */
export const windsurf: Translate = bracedVariables((body, note) =>
  body.startsWith("file:") ? fileVariable(body.slice("file:".length), note) : environment(body),
);

/** Cline: `${env:X}`. */
export const cline: Translate = bracedVariables((body) => environment(body));

/** Gemini CLI: `$X`, `${X}` and `${X:-default}`; what is not set stays as it is, as it does here. */
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

/** opencode: `{env:X}`, empty where it is not set, and `{file:path}`. */
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

/** The variables of an editor, which our expansion has too. */
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
      note("every folder of the workspace is the one workspace folder here");
      return `\${workspaceFolder}`;
  }
}

/**
 * A file's content as a value. It is usually a secret, and copying secrets into a file that may be shared would be worse
 * than one more step, so the value is taken from the environment and the user is told.
 */
function fileVariable(path: string, note: (message: string) => void): string {
  const name = variableName(lastPart(path.trim()));
  note(`the content of ${path.trim()} is not copied: set the environment variable ${name} to it`);
  return `\${${name}}`;
}

function lastPart(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== "") ?? path;
}
