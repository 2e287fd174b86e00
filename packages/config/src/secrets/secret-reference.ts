// References to secrets that are kept elsewhere: `${secret:NAME}` in the keychain, `${op://…}` in 1Password, `${cmd:…}`
// printed by a command.

type SecretKind = "secret" | "op" | "cmd";

export interface SecretReference {
  readonly kind: SecretKind;
  /** The name in the keychain, the `op://` address, or the command. */
  readonly name: string;
}

const PREFIX = /^(secret|op|cmd):/;

/** Parses the text between the braces; undefined if it is not a reference to a secret. */
export function parseSecretReference(body: string): SecretReference | undefined {
  const kind = PREFIX.exec(body)?.[1] as SecretKind | undefined; // the pattern names the kinds
  if (kind === undefined) return undefined;
  const rest = body.slice(kind.length + 1);
  if (kind !== "op") return { kind, name: rest };
  return { kind, name: `op://${rest.replace(/^(?:op:)?\/\//, "")}` };
}

/** Names that no program mistakes for an option, a path or several words. */
export function isSecretNameValid(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/.test(name);
}

/** Says why a reference can never be resolved; undefined if it can. */
export function referenceProblem({ kind, name }: SecretReference): string | undefined {
  switch (kind) {
    case "secret":
      return isSecretNameValid(name) ? undefined : `a name has letters, digits, "_", "." or "-"`;
    case "op":
      return /^op:\/\/[^/\p{C}]+(?:\/[^/\p{C}]+){2,3}$/u.test(name)
        ? undefined
        : "an address has a vault, an item and a field: op://vault/item/field";
    case "cmd":
      return /\S/.test(name) && !name.includes("\0") ? undefined : "there is no command";
  }
}

/** What a person reads, and what a project is granted: `GITHUB_TOKEN`, `op://vault/item/field`, `cmd:gh auth token`. */
export function secretLabel({ kind, name }: SecretReference): string {
  return kind === "cmd" ? `cmd:${name}` : name;
}
