// Tools, resources and prompts as a hub reports them: the pair of server and name that identifies one, the server's
// description, and the raw listing.

import { dottedName } from "@trunkline/config";
import { isRecord, type SourcedTool } from "@trunkline/core";

/** A resource of a server, identified by the pair of server and URI. */
export interface SourcedResource {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly sizeBytes?: number;
  /** As the server listed it, including unknown fields. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A kind of resource that a server creates on demand, from a URI template (RFC 6570). */
export interface SourcedTemplate {
  readonly server: string;
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

/** An argument of a prompt. Values are always text. */
interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
}

/** A prompt of a server, identified by the pair of server and name. */
export interface SourcedPrompt {
  readonly server: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly PromptArgument[];
  readonly raw: Readonly<Record<string, unknown>>;
}

type Raw = Readonly<Record<string, unknown>>;

/** Converts a listed tool; undefined if it has no name. */
export function toSourcedTool(server: string, raw: Raw): SourcedTool | undefined {
  if (typeof raw.name !== "string") return undefined;
  return {
    server,
    tool: raw.name,
    name: dottedName({ server, tool: raw.name }),
    inputSchema: isRecord(raw.inputSchema) ? raw.inputSchema : { type: "object" },
    ...(typeof raw.description === "string" ? { description: raw.description } : {}),
    ...(isRecord(raw.outputSchema) ? { outputSchema: raw.outputSchema } : {}),
    ...(isRecord(raw.annotations) ? { annotations: raw.annotations } : {}),
    raw,
  };
}

/** Converts a listed resource; undefined if it has no URI. */
export function toResource(server: string, raw: Raw): SourcedResource | undefined {
  const { uri, size } = raw;
  if (typeof uri !== "string") return undefined;
  const sizeBytes = typeof size === "number" ? { sizeBytes: size } : {};
  return { server, uri, name: nameOf(raw, uri), ...describing(raw), ...sizeBytes, raw };
}

/** Converts a listed template; undefined if it has no URI. */
export function toTemplate(server: string, raw: Raw): SourcedTemplate | undefined {
  const { uriTemplate } = raw;
  if (typeof uriTemplate !== "string") return undefined;
  return { server, uriTemplate, name: nameOf(raw, uriTemplate), ...describing(raw), raw };
}

/** Converts a listed prompt; undefined if it has no name. */
export function toPrompt(server: string, raw: Raw): SourcedPrompt | undefined {
  const { name } = raw;
  if (typeof name !== "string") return undefined;
  const { mimeType: _, ...described } = describing(raw);
  return { server, name, ...described, arguments: argumentsOf(raw.arguments), raw };
}

function argumentsOf(value: unknown): PromptArgument[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((raw: Raw | null) =>
    typeof raw?.name === "string"
      ? [
          {
            name: raw.name,
            ...(typeof raw.description === "string" ? { description: raw.description } : {}),
            required: raw.required === true,
          },
        ]
      : [],
  );
}

function nameOf(raw: Raw, fallback: string): string {
  return typeof raw.name === "string" && raw.name !== "" ? raw.name : fallback;
}

function describing({ title, description, mimeType }: Raw): {
  title?: string;
  description?: string;
  mimeType?: string;
} {
  return {
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof mimeType === "string" ? { mimeType } : {}),
  };
}
