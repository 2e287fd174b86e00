// The media type of a document, by its name. Only types that clients treat differently; the rest is text or bytes.
const TYPES: Readonly<Record<string, string>> = {
  avif: "image/avif",
  bmp: "image/bmp",
  css: "text/css",
  csv: "text/csv",
  gif: "image/gif",
  gz: "application/gzip",
  htm: "text/html",
  html: "text/html",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  jsonl: "application/jsonl",
  md: "text/markdown",
  mjs: "text/javascript",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  ogg: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tiff: "image/tiff",
  toml: "application/toml",
  ts: "text/typescript",
  wasm: "application/wasm",
  wav: "audio/wav",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
};

/** Returns the type for the name, unless it is a text type and the content is not text. */
export function mimeTypeOf(path: string | undefined, kind: "text" | "binary"): string {
  const extension = path === undefined ? undefined : /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase();
  const known = extension === undefined ? undefined : TYPES[extension];
  if (kind === "text") return known ?? "text/plain";
  return known === undefined || known.startsWith("text/") ? "application/octet-stream" : known;
}
