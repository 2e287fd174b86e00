import { type Cli, withJson } from "../flags.js";

const MORE = `
A server's entry refers to a secret by its name, in env, headers, url or args:
  "env": { "GITHUB_TOKEN": "\${secret:GITHUB_TOKEN}" }
Also \${op://vault/item/field} for 1Password and, in your own settings only,
\${cmd:command that prints it}. Values are looked up when the server starts.`;

export function addSecrets({ program, context, setExitCode }: Cli): void {
  const secrets = program.command("secrets").addHelpText("after", MORE);
  withJson(secrets.command("set"))
    .description("save a secret in the system's keychain; asks for it, or reads it from stdin")
    .argument("<name>", "letters, digits, _, . and -, such as GITHUB_TOKEN")
    .action(async (name: string, options: { json?: boolean }) => {
      const { setSecret } = await import("./run.js");
      setExitCode(await setSecret(context, { name, ...options }));
    });
  withJson(secrets.command("list"))
    .description("list the names of saved secrets")
    .action(async (options: { json?: boolean }) => {
      const { listSecrets } = await import("./run.js");
      setExitCode(await listSecrets(context, options));
    });
  withJson(secrets.command("remove"))
    .description("remove a secret from the keychain")
    .argument("<name>")
    .action(async (name: string, options: { json?: boolean }) => {
      const { removeSecret } = await import("./run.js");
      setExitCode(await removeSecret(context, { name, ...options }));
    });
}
