// The text of a content, loaded in parts: a document can be of any size.
import { useEffect, useRef, useState } from "preact/hooks";
import { runOperation } from "../../kit/operations.js";
import { toError } from "../../kit/parts.js";
import type { StoredDocument } from "./store-results.js";

const PART_BYTES = 512 * 1024;

interface StoredText {
  readonly text: string;
  readonly loadedBytes: number;
  readonly isLoading: boolean;
  readonly error: Error | undefined;
  more(): void;
}

interface Loaded {
  readonly hash: string;
  readonly text: string;
  readonly bytes: number;
  readonly error?: Error;
}

export function useText(workspace: string, content: { readonly hash: string; readonly size: number }): StoredText {
  const { hash, size } = content;
  const [loaded, setLoaded] = useState<Loaded>({ hash, text: "", bytes: 0 });
  const [wanted, setWanted] = useState({ hash, bytes: PART_BYTES });
  // Keeps the bytes of a character that is cut by the end of a part.
  const decoder = useRef({ hash, decode: new TextDecoder() });
  const now = loaded.hash === hash ? loaded : { hash, text: "", bytes: 0 };
  const goal = wanted.hash === hash ? wanted.bytes : PART_BYTES;
  const isLoading = now.error === undefined && now.bytes < Math.min(goal, size);
  useEffect(() => {
    if (!isLoading) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    if (decoder.current.hash !== hash || now.bytes === 0) decoder.current = { hash, decode: new TextDecoder() };
    const from = now.bytes;
    const to = Math.min(from + PART_BYTES, size) - 1;
    runOperation<StoredDocument>({ workspace, op: "get", params: { hash, bytes: `${from}-${to}` }, signal }).then(
      ({ content = "", encoding }) => {
        if (signal.aborted) return;
        const part =
          encoding === "base64" ? decoder.current.decode.decode(bytesOf(content), { stream: true }) : content;
        setLoaded({ hash, text: now.text + part, bytes: to + 1 });
      },
      (error: unknown) => {
        if (!signal.aborted) setLoaded({ ...now, error: toError(error) });
      },
    );
    return () => leaving.abort();
  }, [workspace, hash, size, now.bytes, isLoading]);
  return {
    text: now.text,
    loadedBytes: now.bytes,
    isLoading,
    error: now.error,
    more: () => {
      if (now.error !== undefined) setLoaded({ hash, text: now.text, bytes: now.bytes });
      setWanted({ hash, bytes: Math.max(goal, now.bytes + PART_BYTES) });
    },
  };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
