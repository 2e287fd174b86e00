// Maps URIs to upstream servers. Resources keep their own URIs. If two servers have the same URI, the first server by
// name wins, and the other's resource is hidden until the first is gone.
import type { SourcedResource, SourcedTemplate } from "@trunkline/client";
import { LOOKUP_PATIENCE_MS, type Upstreams } from "../upstreams/upstreams.js";
import { parseUriTemplate, type UriTemplate } from "./uri-template.js";

interface Routes {
  readonly resources: readonly SourcedResource[];
  readonly byUri: ReadonlyMap<string, string>;
}

interface TemplateRoutes {
  readonly templates: readonly SourcedTemplate[];
  readonly byTemplate: ReadonlyMap<string, string>;
  /** Most specific first. */
  readonly patterns: readonly { readonly server: string; readonly pattern: UriTemplate }[];
}

/** The maximum number of remembered links from results. */
const MAX_LINKS = 10_000;

export class ResourceRoutes {
  readonly #upstreams: Upstreams;
  readonly #links = new Map<string, string>();
  #routes: Routes | undefined;
  #templates: TemplateRoutes | undefined;
  #generation = 0;

  constructor(upstreams: Upstreams) {
    this.#upstreams = upstreams;
  }

  /** Marks the known resources as outdated. */
  changed(): void {
    this.#generation++;
    this.#routes = undefined;
    this.#templates = undefined;
  }

  /** Remembers which server the links of a result belong to: they may not be in any list. */
  note(server: string, content: unknown): void {
    if (!Array.isArray(content)) return;
    for (const block of content) {
      const uri = block?.type === "resource_link" ? block.uri : undefined;
      if (typeof uri !== "string") continue;
      const [oldest] = this.#links.keys();
      if (this.#links.size >= MAX_LINKS && oldest !== undefined) this.#links.delete(oldest);
      this.#links.delete(uri);
      this.#links.set(uri, server);
    }
  }

  /** Returns the resources of all servers, without duplicate URIs. */
  async resources(signal: AbortSignal, patienceMs?: number): Promise<readonly SourcedResource[]> {
    return (await this.#known(signal, patienceMs)).resources;
  }

  /** Returns the templates of all servers, without duplicates. */
  async templates(signal: AbortSignal): Promise<readonly SourcedTemplate[]> {
    return (await this.#knownTemplates(signal)).templates;
  }

  /**
   * Finds the server for this resource: one that lists it, linked to it or has a matching template, or the only server
   * with resources.
   */
  async server(uri: string, signal: AbortSignal): Promise<string | undefined> {
    const listed = this.#routes?.byUri.get(uri) ?? (await this.#known(signal, LOOKUP_PATIENCE_MS)).byUri.get(uri);
    if (listed !== undefined) return listed;
    const linked = this.#links.get(uri);
    if (linked !== undefined) return linked;
    const { patterns } = await this.#knownTemplates(signal, LOOKUP_PATIENCE_MS);
    const made = patterns.find(({ pattern }) => pattern.matches(uri))?.server;
    if (made !== undefined) return made;
    const servers = new Set([
      ...(await this.#known(signal, LOOKUP_PATIENCE_MS)).byUri.values(),
      ...patterns.map(({ server }) => server),
    ]);
    const [only, ...others] = servers;
    return others.length === 0 ? only : undefined;
  }

  /** Finds the server that listed this template. */
  async templateServer(template: string, signal: AbortSignal): Promise<string | undefined> {
    return (await this.#knownTemplates(signal)).byTemplate.get(template);
  }

  /** Whether a server lists exactly this URI. */
  async isListed(uri: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#known(signal, LOOKUP_PATIENCE_MS)).byUri.has(uri);
  }

  async #known(signal: AbortSignal, patienceMs?: number): Promise<Routes> {
    if (this.#routes !== undefined) return this.#routes;
    const generation = this.#generation;
    const { items, isComplete } = await this.#upstreams.each(signal, (hub, where) => hub.resources(where), patienceMs);
    const byUri = new Map<string, string>();
    const resources = items.filter(({ uri, server }) => {
      if (byUri.has(uri)) return false;
      byUri.set(uri, server);
      return true;
    });
    const routes = { resources, byUri };
    if (isComplete && generation === this.#generation) this.#routes = routes;
    return routes;
  }

  async #knownTemplates(signal: AbortSignal, patienceMs?: number): Promise<TemplateRoutes> {
    if (this.#templates !== undefined) return this.#templates;
    const generation = this.#generation;
    const { items, isComplete } = await this.#upstreams.each(
      signal,
      (hub, where) => hub.resourceTemplates(where),
      patienceMs,
    );
    const byTemplate = new Map<string, string>();
    const templates = items.filter(({ uriTemplate, server }) => {
      if (byTemplate.has(uriTemplate)) return false;
      byTemplate.set(uriTemplate, server);
      return true;
    });
    const patterns = templates
      .map(({ server, uriTemplate }) => ({ server, pattern: parseUriTemplate(uriTemplate) }))
      .sort((a, b) => b.pattern.weight - a.pattern.weight);
    const routes = { templates, byTemplate, patterns };
    if (isComplete && generation === this.#generation) this.#templates = routes;
    return routes;
  }
}
