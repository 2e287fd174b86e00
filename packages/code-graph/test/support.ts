import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { extractGraph, type FileGraph, type GraphEdge, MemoryGraph, type Relation } from "../src/index.js";

const FIXTURES = fileURLToPath(new URL("./fixtures/", import.meta.url));

/** Extracts the graph of a fixture. Sources that the project's own tools would check have `.txt` appended. */
export async function fixtureGraph(name: string): Promise<FileGraph> {
  const folder = join(FIXTURES, name, "..");
  const base = name.slice(name.lastIndexOf("/") + 1);
  const file = readdirSync(folder).find((entry) => entry === base || entry === `${base}.txt`) ?? base;
  return await extractGraph({ path: `/fixtures/${name}`, text: readFileSync(join(folder, file), "utf8") });
}

/** Lists all symbols as `kind qualifiedName`, in source order. */
export function symbolLines(graph: FileGraph): string[] {
  return graph.symbols.map(({ kind, qualifiedName }) => `${kind} ${qualifiedName}`);
}

/** Lists a relation's edges as `from -> to`, as far as the file alone tells. Unknown targets have a `?`. */
export function edgeLines(graph: FileGraph, relation: Relation): string[] {
  return graph.edges
    .filter((edge) => edge.relation === relation)
    .map((edge) => `${short(edge.from)} -> ${edge.to === undefined ? `? ${edge.name}` : short(edge.to)}`);
}

function short(key: string): string {
  return key.startsWith("file:") ? "file" : key.slice(key.lastIndexOf("#") + 1);
}

/** Lists all imports as `kind specifier imported>local,…`. */
export function importLines(graph: FileGraph): string[] {
  return graph.imports.map(({ kind, specifier, names }) =>
    `${kind} ${specifier} ${names.map(({ imported, local }) => `${imported}>${local}`).join(",")}`.trim(),
  );
}

/** Builds the graph of all files, resolved against each other. Keys are paths, values their texts. */
export async function graphOf(files: Readonly<Record<string, string>>): Promise<MemoryGraph> {
  const graph = new MemoryGraph();
  graph.put(await Promise.all(Object.entries(files).map(([path, text]) => extractGraph({ path, text }))));
  return graph;
}

/** Lists a file's resolved edges as `from -> to`. Keys are unchanged, except for the file's own path. */
export function resolvedLines(graph: MemoryGraph, path: string, relation: Relation): string[] {
  return graph
    .edgesOf(path)
    .filter((edge) => edge.relation === relation)
    .map((edge) => line(edge, path));
}

function line(edge: GraphEdge, path: string): string {
  const own = (key: string) => (key === `file:${path}` ? "file" : key.replace(`symbol:${path}#`, "#"));
  return `${own(edge.from)} -> ${own(edge.to)}`;
}
