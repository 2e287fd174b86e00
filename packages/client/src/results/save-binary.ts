// Saves binary parts of results under the home folder, where the user or the next tool can open them. Files are named
// after the hash of their content, so the same bytes are saved only once.
import { chmod, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { abortError, type ContentId, contentIdOf, systemCodeOf, writeFileAtomically } from "@trunkline/core";

interface SaveBinaryOptions {
  home: string;
  mimeType?: string;
  signal?: AbortSignal;
}

// A fixed list: a server must not choose what a double click on its file does.
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["application/gzip", ".gz"],
  ["application/json", ".json"],
  ["application/msword", ".doc"],
  ["application/pdf", ".pdf"],
  ["application/rtf", ".rtf"],
  ["application/vnd.ms-excel", ".xls"],
  ["application/vnd.ms-powerpoint", ".ppt"],
  ["application/vnd.oasis.opendocument.spreadsheet", ".ods"],
  ["application/vnd.oasis.opendocument.text", ".odt"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", ".pptx"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"],
  ["application/wasm", ".wasm"],
  ["application/x-7z-compressed", ".7z"],
  ["application/x-tar", ".tar"],
  ["application/xml", ".xml"],
  ["application/yaml", ".yaml"],
  ["application/zip", ".zip"],
  ["audio/flac", ".flac"],
  ["audio/mp4", ".m4a"],
  ["audio/mpeg", ".mp3"],
  ["audio/ogg", ".ogg"],
  ["audio/wav", ".wav"],
  ["audio/webm", ".weba"],
  ["audio/x-wav", ".wav"],
  ["font/otf", ".otf"],
  ["font/ttf", ".ttf"],
  ["font/woff2", ".woff2"],
  ["image/avif", ".avif"],
  ["image/bmp", ".bmp"],
  ["image/gif", ".gif"],
  ["image/jpeg", ".jpg"],
  ["image/png", ".png"],
  ["image/svg+xml", ".svg"],
  ["image/tiff", ".tiff"],
  ["image/webp", ".webp"],
  ["text/css", ".css"],
  ["text/csv", ".csv"],
  ["text/html", ".html"],
  ["text/markdown", ".md"],
  ["text/plain", ".txt"],
  ["video/mp4", ".mp4"],
  ["video/quicktime", ".mov"],
  ["video/webm", ".webm"],
]);

/** Saves bytes under `<home>/mcp-blobs/`, which only the user can read, and returns the file's path. */
export async function saveBinary(bytes: Uint8Array, options: SaveBinaryOptions): Promise<string> {
  const { home, mimeType, signal } = options;
  if (signal?.aborted) throw abortError(signal, "Saving a binary");
  const folder = join(home, "mcp-blobs");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // The folder may already have existed with any mode.
  await chmod(folder, 0o700);
  const id = contentIdOf(bytes);
  const path = join(folder, `${id}${extensionOf(mimeType)}`);
  if (await holds(path, id)) return path;

  try {
    await writeFileAtomically(path, bytes, { mode: 0o600, forceMode: true, signal });
  } catch (error) {
    if (signal?.aborted) throw abortError(signal, "Saving a binary");
    // Windows does not allow renaming over an open file; another process may just have saved the same bytes.
    if (await holds(path, id)) return path;
    throw error;
  }
  return path;
}

/** The file extension for a MIME type, ignoring parameters; `.bin` if unknown. */
export function extensionOf(mimeType: string | undefined): string {
  const bare = mimeType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return EXTENSIONS.get(bare) ?? ".bin";
}

async function holds(path: string, id: ContentId): Promise<boolean> {
  try {
    return contentIdOf(await readFile(path)) === id;
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return false;
    throw error;
  }
}
