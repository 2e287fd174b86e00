// Reads an entry's sign-in settings, in the spellings that various programs use.
import type { FieldReader, Leaf } from "./field-reader.js";
import type { AuthSettings } from "./loaded-config.js";

/** The text settings for signing in. */
type AuthText = Exclude<keyof AuthSettings, "grant">;

/** `auth` of an entry, before variables are expanded. */
export interface CheckedAuth {
  readonly grant: AuthSettings["grant"];
  readonly texts: Readonly<Partial<Record<AuthText, Leaf>>>;
}

const NAMES: Readonly<Record<AuthText, readonly string[]>> = {
  clientId: ["client_id", "clientId", "CLIENT_ID"],
  clientSecret: ["client_secret", "clientSecret", "CLIENT_SECRET"],
  privateKey: ["private_key", "privateKey"],
  algorithm: ["algorithm"],
  scope: ["scope", "scopes"],
  redirectUri: ["redirect_uri", "redirectUri"],
  issuer: ["issuer"],
};

/**
 * Reads `auth`, or `oauth` as other programs spell it. An unknown shape, such as `"auth": "oauth"`, only says that a
 * sign-in is needed, which the server reports anyway.
 */
export function readAuth(fields: FieldReader): CheckedAuth | undefined {
  const texts: Partial<Record<AuthText, Leaf>> = {};
  let isMachine = false;
  for (const parent of ["auth", "oauth"] as const) {
    const type =
      fields.string(`${parent}.type`, { quiet: true }) ?? fields.string(`${parent}.grant_type`, { quiet: true });
    isMachine ||= /^client[-_]credentials$/i.test(type?.text ?? "");
    for (const name of Object.keys(NAMES) as AuthText[]) {
      const leaf = NAMES[name].map((spelling) => readText(fields, `${parent}.${spelling}`)).find(Boolean);
      if (leaf !== undefined && leaf.text !== "") texts[name] ??= leaf;
    }
  }
  if (Object.keys(texts).length === 0 && !isMachine) return undefined;
  if (isMachine && (texts.clientId === undefined || (texts.clientSecret ?? texts.privateKey) === undefined)) {
    fields.fail("auth", 'client credentials need "client_id", and "client_secret" or "private_key"');
  } else if (isMachine && texts.issuer === undefined) {
    // Otherwise the server could name any issuer and get the secret sent there.
    fields.fail("auth", 'client credentials need "issuer", the URL of the authorization server that issued them');
  }
  const { redirectUri } = texts;
  if (redirectUri !== undefined && !redirectUri.text.includes("${") && !isOnThisMachine(redirectUri.text)) {
    fields.fail(redirectUri.field, "it must be on this machine, such as http://127.0.0.1:8765/callback");
  }
  return { grant: isMachine ? "client_credentials" : "authorization_code", texts };
}

/** Returns the settings with their variables expanded. */
export function authSettings({ grant, texts }: CheckedAuth, text: (leaf: Leaf) => string): AuthSettings {
  const filled = Object.entries(texts).map(([name, leaf]) => [name, text(leaf)]);
  return { grant, ...Object.fromEntries(filled) };
}

function readText(fields: FieldReader, field: string): Leaf | undefined {
  if (!fields.isList(field)) return fields.string(field, { quiet: true });
  const items = fields.list(field) ?? [];
  const [first] = items;
  return first === undefined ? undefined : { ...first, field, text: items.map(({ text }) => text).join(" ") };
}

function isOnThisMachine(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "http:" && (hostname === "127.0.0.1" || hostname === "localhost");
}
