// What can be done with a document: pin, tag, restore a version to a file, delete and undelete.
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../kit/icons.js";
import { runOperation, useOperation } from "../../kit/operations.js";
import { ActionButton, Button, ErrorNotice, Field, Loading, Notice, showToast, Window } from "../../kit/parts.js";
import { addressOf } from "../../kit/places.js";
import { counted, visible } from "../../kit/wording.js";
import type { StoredDocument, VersionRow } from "./store-results.js";
import { baseName } from "./stored-paths.js";

interface DocumentPlace {
  readonly workspace: string;
  readonly path: string;
  readonly collection: string | undefined;
}

export function Tags(props: DocumentPlace & { readonly tags: readonly string[]; readonly onChange: () => void }) {
  const { workspace, path, collection, tags, onChange } = props;
  const [typed, setTyped] = useState("");
  const change = async (what: { readonly tags?: string[]; readonly remove_tags?: string[] }) => {
    await runOperation({ workspace, op: "update", params: { name: path, collection, ...what } });
    onChange();
  };
  const add = async () => {
    const wanted = typed.split(",").flatMap((tag) => (tag.trim() === "" ? [] : [tag.trim()]));
    if (wanted.length === 0) return;
    await change({ tags: wanted });
    setTyped("");
  };
  return (
    <form
      class="tags"
      onSubmit={(event) => {
        event.preventDefault();
        add().catch(showToast);
      }}
    >
      {tags.map((tag) => (
        <span key={tag} class="badge">
          {visible(tag)}
          <button
            type="button"
            class="remove"
            aria-label={`Remove the tag ${visible(tag)}`}
            onClick={() => change({ remove_tags: [tag] }).catch(showToast)}
          >
            <Icon name="close" size={12} />
          </button>
        </span>
      ))}
      <input
        type="text"
        value={typed}
        placeholder="Add a tag"
        aria-label="Add a tag"
        maxLength={100}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {typed.trim() !== "" && (
        <Button small submit>
          Add
        </Button>
      )}
    </form>
  );
}

interface Pins {
  readonly session?: string;
  readonly hashes: readonly string[];
}

/**
 * Pins belong to a session, and no operation lists them. The console has a session of its own for them, and remembers
 * here what it pinned.
 */
function pinsOf(workspace: string): Pins {
  try {
    const kept = JSON.parse(localStorage.getItem(`trunkline-pins ${workspace}`) ?? "{}") as Partial<Pins>;
    return { session: kept.session, hashes: kept.hashes ?? [] };
  } catch {
    return { hashes: [] };
  }
}

function keepPins(workspace: string, pins: Pins): void {
  localStorage.setItem(`trunkline-pins ${workspace}`, JSON.stringify(pins));
}

export function PinButton({ workspace, hash }: { readonly workspace: string; readonly hash: string }) {
  const [pins, setPins] = useState(() => pinsOf(workspace));
  const isPinned = pins.hashes.includes(hash);
  const keep = (next: Pins) => {
    keepPins(workspace, next);
    setPins(next);
  };
  const pin = async () => {
    const { hashes } = pins;
    const inSession = (session: string) => runOperation({ workspace, op: "pin", params: { hash, session } });
    let { session } = pins;
    try {
      if (session !== undefined) await inSession(session);
    } catch {
      // The session has ended, or the store is another one.
      session = undefined;
    }
    if (session === undefined) {
      const started = await runOperation<{ session_id: string }>({
        workspace,
        op: "start",
        params: { label: "console" },
      });
      session = started.session_id;
      await inSession(session);
    }
    keep({ session, hashes: [...hashes, hash] });
    showToast("Pinned. gc keeps this content, even if the document is deleted.");
  };
  const unpin = async () => {
    const { session, hashes } = pins;
    keep({ session, hashes: hashes.filter((pinned) => pinned !== hash) });
    await runOperation({ workspace, op: "unpin", params: { hash, session } });
    showToast("Unpinned.");
  };
  return (
    <ActionButton
      small
      icon="pin"
      run={isPinned ? unpin : pin}
      label={isPinned ? "Unpin: gc may remove this content" : "Pin: protect this content from gc"}
    >
      {isPinned ? "Unpin" : "Pin"}
    </ActionButton>
  );
}

/** Writes a version to a new file. */
export function RestoreWindow(
  props: DocumentPlace & { readonly version: VersionRow; readonly questions: number; readonly onClose: () => void },
) {
  const { workspace, path, collection, version, questions, onClose } = props;
  const [target, setTarget] = useState(() => besidePath(path, version.version));
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<Error>();
  const waiting = useRef<AbortController | undefined>(undefined);
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  const save = () => {
    setRunning(true);
    setError(undefined);
    // Going to another page does not stop it: the person may have gone to answer its question.
    const stopping = new AbortController();
    waiting.current = stopping;
    runOperation<StoredDocument & { outputPath: string }>({
      workspace,
      op: "get",
      params: { path, collection, version: version.version, outputPath: target.trim() },
      signal: stopping.signal,
    })
      .then(
        ({ outputPath }) => {
          showToast(`Version ${version.version} is in ${outputPath}.`);
          if (isOpen.current) onClose();
        },
        (failure: Error) => {
          if (stopping.signal.aborted) return;
          if (isOpen.current) setError(failure);
          else showToast(failure);
        },
      )
      .finally(() => setRunning(false));
  };
  const cancel = () => {
    waiting.current?.abort();
    onClose();
  };
  return (
    <Window title={`Restore version ${version.version}`} onClose={cancel}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <Field label="New file" help="An existing file is never replaced. Missing folders are created." required>
          {(ids) => (
            <input {...ids} type="text" value={target} onInput={(event) => setTarget(event.currentTarget.value)} />
          )}
        </Field>
        {isRunning && questions > 0 && (
          <Notice tone="warn">
            This waits for an answer: the path is outside the allowed folders.{" "}
            <a href={addressOf("questions")}>Answer on the Questions page</a>
          </Notice>
        )}
        {error !== undefined && <ErrorNotice error={error} />}
        <div class="buttons">
          <Button onClick={cancel}>Cancel</Button>
          <Button kind="primary" submit disabled={isRunning || target.trim() === ""}>
            {isRunning ? "Writing …" : "Write the file"}
          </Button>
        </div>
      </form>
    </Window>
  );
}

/** `src/a.v2.ts` for version 2 of `src/a.ts`. */
function besidePath(path: string, version: number): string {
  const name = baseName(path);
  const dot = name.lastIndexOf(".");
  const [stem, end] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  return `${path.slice(0, path.length - name.length)}${stem}.v${version}${end}`;
}

/** Asks before documents go to the trash, and shows exactly which. */
export function DeleteWindow(props: DocumentPlace & { readonly onClose: () => void; readonly onDone: () => void }) {
  const { workspace, path, collection, onClose, onDone } = props;
  const params = { name: path, collection };
  const plan = useOperation<{ deleted: readonly string[]; count: number }>({
    workspace,
    op: "delete",
    params: { ...params, dry_run: true },
  });
  const remove = async () => {
    await runOperation({ workspace, op: "delete", params });
    rememberDeleted(workspace, path, collection);
    onDone();
    onClose();
    showToast(`Deleted ${baseName(path)}.`, {
      label: "Undo",
      run: async () => {
        await undelete({ workspace, path, collection });
        onDone();
      },
    });
  };
  return (
    <Window title="Delete from the store" onClose={onClose}>
      {plan.error !== undefined ? (
        <ErrorNotice error={plan.error} />
      ) : plan.data === undefined ? (
        <Loading lines={2} />
      ) : (
        <>
          <p>{plan.data.count === 1 ? "This document goes" : `These ${plan.data.count} documents go`} to the trash:</p>
          <ul class="delete-list">
            {plan.data.deleted.slice(0, 20).map((deleted) => (
              <li key={deleted} class="mono breakable">
                {visible(deleted)}
              </li>
            ))}
          </ul>
          <p class="dim">
            The file on disk stays. You can undelete the document until <code>trunkline store gc</code> empties the
            trash.
          </p>
        </>
      )}
      <div class="buttons">
        <Button onClick={onClose}>Cancel</Button>
        <ActionButton kind="danger" icon="trash" disabled={plan.data === undefined} run={remove}>
          Delete
        </ActionButton>
      </div>
    </Window>
  );
}

export async function undelete({ workspace, path, collection }: DocumentPlace): Promise<void> {
  const { count } = await runOperation<{ count: number }>({
    workspace,
    op: "undelete",
    params: { name: path, collection },
  });
  forgetDeleted(workspace, path);
  showToast(count === 1 ? `${baseName(path)} is back.` : `${counted(count, "document")} are back.`);
}

interface Deleted {
  readonly path: string;
  readonly collection?: string;
}

const MOST_DELETED = 50;

/** What was deleted in this browser: no operation lists the trash. */
export function deletedHere(workspace: string): readonly Deleted[] {
  try {
    return JSON.parse(localStorage.getItem(`trunkline-deleted ${workspace}`) ?? "[]") as Deleted[];
  } catch {
    return [];
  }
}

function rememberDeleted(workspace: string, path: string, collection: string | undefined): void {
  const others = deletedHere(workspace).filter((one) => one.path !== path);
  const kept = [{ path, collection }, ...others].slice(0, MOST_DELETED);
  localStorage.setItem(`trunkline-deleted ${workspace}`, JSON.stringify(kept));
}

function forgetDeleted(workspace: string, path: string): void {
  const others = deletedHere(workspace).filter((one) => one.path !== path);
  localStorage.setItem(`trunkline-deleted ${workspace}`, JSON.stringify(others));
}
