// Brings deleted documents back. The store counts its trash but does not list it.
import { useState } from "preact/hooks";
import { ActionButton, Field, Window } from "../../kit/parts.js";
import { counted, visible } from "../../kit/wording.js";
import { deletedHere, undelete } from "./document-actions.js";

interface TrashProps {
  readonly workspace: string;
  readonly count: number;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

export function TrashWindow({ workspace, count, onClose, onChange }: TrashProps) {
  const [name, setName] = useState("");
  const [deleted, setDeleted] = useState(() => deletedHere(workspace));
  const restore = async (path: string, collection?: string) => {
    await undelete({ workspace, path, collection });
    setDeleted(deletedHere(workspace));
    onChange();
  };
  return (
    <Window title="Trash" onClose={onClose}>
      <p>
        {counted(count, "document")} {count === 1 ? "is" : "are"} in the trash, until <code>trunkline store gc</code>{" "}
        empties it.
      </p>
      {deleted.length > 0 && (
        <section class="section">
          <h3>Deleted in this browser</h3>
          <ul class="symbols">
            {deleted.map(({ path, collection }) => (
              <li key={path}>
                <span class="mono breakable grow">{visible(path)}</span>
                <ActionButton small run={() => restore(path, collection)} label={`Undelete ${visible(path)}`}>
                  Undelete
                </ActionButton>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="section">
        <Field label="Undelete by name" help="A path, the end of one, a file name, or a glob such as **/*.md.">
          {(ids) => (
            <span class="copy-line">
              <input {...ids} type="text" value={name} onInput={(event) => setName(event.currentTarget.value)} />
              <ActionButton disabled={name.trim() === ""} run={() => restore(name.trim())}>
                Undelete
              </ActionButton>
            </span>
          )}
        </Field>
      </section>
    </Window>
  );
}
