// The address of a store in a database, as the user wrote it.
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { CommandContext } from "../terminal/context.js";

/** `postgres://user:${secret:NAME}@host/database` */
const REFERENCE = /^([a-z]+:\/\/[^:/@]*):\$\{([^}]*)\}@/i;

/** Whether the name of a store is the address of a database, not a folder. */
export function isStoreAddress(name: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(name);
}

/** Returns the folder for what belongs to a store in a database but stays on this machine, such as unfinished downloads. */
export function addressFolder(home: string, address: string): string {
  const digest = createHash("sha256").update(withoutPassword(address)).digest("hex");
  return join(home, "databases", digest.slice(0, 16));
}

/** A password that changes must not lead to another folder. */
function withoutPassword(address: string): string {
  return withoutReference(address).replace(/^([a-z]+:\/\/[^:/@]*):[^/]*@/i, "$1@");
}

/** Returns the address without a reference to a secret: a valid URL. */
export function withoutReference(address: string): string {
  return address.replace(REFERENCE, "$1@");
}

/** Returns the text between the braces of a reference to a secret. */
export function referenceIn(address: string): string | undefined {
  return REFERENCE.exec(address)?.[2];
}

/** Keeps the password of an address out of everything that is shown. */
export function redactAddress({ redactor }: Pick<CommandContext, "redactor">, address: string): void {
  const inAddress = /^[a-z]+:\/\/[^:/@]*:(.+)@/i.exec(withoutReference(address))?.[1];
  const asParameter = /[?&]password=([^&]+)/i.exec(address)?.[1];
  for (const password of [inAddress, asParameter]) {
    if (password === undefined) continue;
    redactor.add(password);
    try {
      redactor.add(decodeURIComponent(password));
    } catch (error) {
      // Not percent-encoded: the password is what is written.
      if (!(error instanceof URIError)) throw error;
    }
  }
}
