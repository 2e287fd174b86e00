// The page's access to the console: exchanges the link's code for a token, and makes sure that the token is only sent to
// the console that gave it.
const TOKEN_KEY = "trunkline-token";

export class SignedOutError extends Error {}

/** Takes the code out of the address and exchanges it. Returns the workspace that the link names. */
export async function beginSession(): Promise<string | undefined> {
  const link = new URLSearchParams(location.hash.slice(1));
  const code = link.get("code");
  if (code === null) return undefined;
  // Not in the history: the code works only once, and says nothing to a person.
  history.replaceState(null, "", "#/servers");
  const response = await fetch("/api/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const body: unknown = await response.json();
  if (response.ok) sessionStorage.setItem(TOKEN_KEY, (body as { token: string }).token);
  else if (tokenOf() === undefined) throw new SignedOutError("This link was used before or is too old.");
  return link.get("workspace") ?? undefined;
}

function tokenOf(): string | undefined {
  return sessionStorage.getItem(TOKEN_KEY) ?? undefined;
}

/** The header for requests. Throws if there is no token. */
export function authorization(): string {
  const token = tokenOf();
  if (token === undefined) throw new SignedOutError("This tab is not signed in.");
  return `Bearer ${token}`;
}

export function forgetToken(): void {
  sessionStorage.removeItem(TOKEN_KEY);
}

/**
 * Checks that the console still knows this tab's token, without sending the token. Throws {@link SignedOutError} if not;
 * any other failure means that there is no console at the moment.
 */
export async function checkConsole(): Promise<void> {
  const [id = "", secret = ""] = (tokenOf() ?? "").split(".");
  if (secret === "") throw new SignedOutError("This tab is not signed in.");
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)));
  const response = await fetch("/api/prove", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ id, nonce }),
  });
  if (response.status === 401) throw new SignedOutError("The console no longer accepts this tab's token.");
  if (!response.ok) throw new Error(`The console answered with status ${response.status}.`);
  const { proof } = (await response.json()) as { proof: string };
  const text = new TextEncoder();
  const hash = await crypto.subtle.digest("SHA-256", text.encode(secret));
  const key = await crypto.subtle.importKey("raw", hash, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const expected = hex(new Uint8Array(await crypto.subtle.sign("HMAC", key, text.encode(nonce))));
  if (proof !== expected) throw new SignedOutError("Another program listens on the console's port.");
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
