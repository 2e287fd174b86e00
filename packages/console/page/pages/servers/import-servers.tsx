// Imports servers that other programs have: chosen one by one, with everything that would be written.
import type { ImportRow } from "@trunkline/console/contract";
import { useState } from "preact/hooks";
import { ask, useAnswer } from "../../kit/live.js";
import {
  ActionButton,
  Button,
  Code,
  Empty,
  ErrorNotice,
  Loading,
  Notice,
  showToast,
  toError,
  Window,
} from "../../kit/parts.js";
import { counted, visible } from "../../kit/wording.js";

export function ImportServers({ workspace, onClose }: { readonly workspace: string; readonly onClose: () => void }) {
  const { data, error, reload } = useAnswer("servers/imports", { workspace });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState<Error>();
  const rows = data?.imports ?? [];
  const open = rows.filter(({ canImport }) => canImport);
  const wanted = open.filter(({ id }) => chosen.has(id));
  const toggle = (id: string) =>
    setChosen((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  const run = async () => {
    try {
      const { added, skipped } = await ask("servers/import", { workspace, ids: wanted.map(({ id }) => id) });
      const left = skipped.map(({ name, reason }) => (name === "" ? reason : `${name}: ${reason}`));
      showToast(
        `Imported ${counted(added.length, "server")}.${left.length > 0 ? ` Left out: ${left.join("; ")}.` : ""}`,
      );
      onClose();
    } catch (problem) {
      setFailure(toError(problem));
      reload();
    }
  };
  return (
    <Window title="Import from other programs" onClose={onClose}>
      {data === undefined && error === undefined && <Loading lines={4} />}
      {error !== undefined && <ErrorNotice error={error} retry={reload} />}
      {data !== undefined && rows.length === 0 && (
        <Empty icon="file" title="Nothing to import">
          <p>No other program on this machine has servers that Trunkline knows how to read.</p>
        </Empty>
      )}
      {groupsOf(rows).map(({ program, file, items }) => (
        <fieldset key={file} class="import-group">
          <legend>
            {visible(program)} <span class="dim mono">{visible(file)}</span>
          </legend>
          {items.map((row) => (
            <Item key={row.id} row={row} isChosen={chosen.has(row.id)} onToggle={() => toggle(row.id)} />
          ))}
        </fieldset>
      ))}
      {failure !== undefined && <ErrorNotice error={failure} />}
      {rows.length > 0 && (
        <div class="buttons">
          {open.length > 1 && (
            <Button
              kind="quiet"
              onClick={() => setChosen(new Set(wanted.length === open.length ? [] : open.map(({ id }) => id)))}
            >
              {wanted.length === open.length ? "Choose none" : "Choose all"}
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <ActionButton kind="primary" disabled={wanted.length === 0} run={run}>
            {wanted.length === 0 ? "Import" : `Import ${counted(wanted.length, "server")}`}
          </ActionButton>
        </div>
      )}
    </Window>
  );
}

function Item(props: { readonly row: ImportRow; readonly isChosen: boolean; readonly onToggle: () => void }) {
  const { row, isChosen, onToggle } = props;
  if (row.name === "") return <Notice tone="warn">{visible(row.note ?? "")}</Notice>;
  return (
    <div class="import-item">
      <label>
        <input type="checkbox" checked={isChosen} disabled={!row.canImport} onChange={onToggle} />
        <span class="import-name">{visible(row.name)}</span>
        <span class="dim cut mono">{visible(row.note ?? row.target)}</span>
      </label>
      {row.entry !== undefined && row.canImport && (
        <details>
          <summary>Will be saved in {visible(row.goesTo ?? "")}</summary>
          <Code class="server-entry" text={row.entry} />
          {row.notes.map((note) => (
            <Notice key={note} tone="warn">
              {visible(note)}
            </Notice>
          ))}
        </details>
      )}
    </div>
  );
}

function groupsOf(rows: readonly ImportRow[]) {
  const groups = new Map<string, { program: string; file: string; items: ImportRow[] }>();
  for (const row of rows) {
    const key = `${row.program} ${row.file}`;
    const group = groups.get(key) ?? { program: row.program, file: row.file, items: [] };
    group.items.push(row);
    groups.set(key, group);
  }
  return [...groups.values()];
}
