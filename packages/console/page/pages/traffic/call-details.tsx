// A call beside the list: its facts, the pipeline it belongs to, and what was recorded.
import type { CallDetails, CallRow, Json } from "@trunkline/console/contract";
import { JsonTree } from "../../kit/json-tree.js";
import { ask, useAnswer } from "../../kit/live.js";
import {
  ActionButton,
  Badge,
  Code,
  Details,
  ErrorNotice,
  Facts,
  Loading,
  Notice,
  showToast,
  type Tone,
} from "../../kit/parts.js";
import { counted, shownBytes, shownMs, visible } from "../../kit/wording.js";
import type { TrafficRow } from "./call-list.js";
import { callTime } from "./call-rows.js";

const OUTCOME_TONES: Readonly<Record<CallRow["outcome"], Tone>> = { ok: "ok", error: "bad", cancelled: "warn" };

export function CallDetailsPane(props: {
  readonly workspace: string;
  readonly row: TrafficRow;
  /** The id of the step that is shown. */
  readonly step: string;
  readonly isRecording: boolean;
  readonly onStep: (id: string) => void;
  readonly onClose: () => void;
}) {
  const { workspace, row, step, onStep } = props;
  const { data, error, reload } = useAnswer("calls/details", { workspace, id: step });
  const known = row.steps ?? [row];
  const call = data?.call ?? known.find(({ id }) => id === step) ?? known[0];
  const steps = data !== undefined && data.steps.length > known.length ? data.steps : known;
  if (call === undefined) return null;
  const isPipeline = steps.length > 1;
  return (
    <Details
      title={isPipeline ? `Pipeline of ${steps.length} steps` : call.operation}
      badge={<Outcome call={isPipeline ? row : call} />}
      onClose={props.onClose}
    >
      {isPipeline && <Waterfall steps={steps} chosen={call.id} onStep={onStep} />}
      {isPipeline && (
        <h3 class="section step-title breakable">
          {visible(call.operation)} <Outcome call={call} />
        </h3>
      )}
      <Facts
        rows={[
          ["Client", visible(call.client)],
          ["Started", callTime(call.atMs, true)],
          ["Took", shownMs(call.durationMs)],
          ["Result", `${shownBytes(call.sizeBytes)}, about ${counted(estimatedTokens(call.sizeBytes), "token")}`],
          ["Error code", call.code === undefined ? undefined : <code>{visible(call.code)}</code>],
        ]}
      />
      {error !== undefined && (
        <div class="section">
          <ErrorNotice error={error} retry={reload} />
        </div>
      )}
      {data === undefined && error === undefined && <Loading lines={4} />}
      {data !== undefined && <Recorded workspace={workspace} details={data} isRecording={props.isRecording} />}
    </Details>
  );
}

function Outcome({ call: { outcome, code } }: { readonly call: Pick<CallRow, "outcome" | "code"> }) {
  return (
    <Badge tone={OUTCOME_TONES[outcome]}>
      {outcome}
      {code !== undefined && ` ${visible(code)}`}
    </Badge>
  );
}

/** A model reads about one token for four bytes. */
function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** When each step began and how long it took. */
function Waterfall(props: {
  readonly steps: readonly CallRow[];
  readonly chosen: string;
  readonly onStep: (id: string) => void;
}) {
  const { steps, chosen, onStep } = props;
  const startMs = Math.min(...steps.map(({ atMs }) => atMs));
  const wholeMs = Math.max(1, ...steps.map(({ atMs, durationMs }) => atMs + durationMs - startMs));
  return (
    <ol class="waterfall" aria-label="Steps">
      {steps.map(({ id, operation, atMs, durationMs, outcome }) => {
        const left = ((atMs - startMs) / wholeMs) * 100;
        return (
          <li key={id}>
            <button type="button" aria-pressed={id === chosen} onClick={() => onStep(id)}>
              <span class="cut">{visible(operation)}</span>
              <span class="track">
                <span
                  class={`bar ${outcome}`}
                  style={{ left: `${left}%`, width: `${Math.min(100 - left, (durationMs / wholeMs) * 100)}%` }}
                />
              </span>
              <span class="number">{shownMs(durationMs)}</span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function Recorded(props: { readonly workspace: string; readonly details: CallDetails; readonly isRecording: boolean }) {
  const { workspace, details, isRecording } = props;
  const { arguments: args, result, command, repeat, isRedacted } = details;
  const isKept = result !== undefined;
  return (
    <>
      {args !== undefined && (
        <section class="section" aria-label="Arguments">
          <h3>Arguments</h3>
          <JsonTree value={args} />
        </section>
      )}
      {isKept && (
        <section class="section" aria-label="Result">
          <h3>Result</h3>
          <JsonTree value={result} />
        </section>
      )}
      {!isKept && (
        <div class="section">
          <Notice>
            Arguments and result were not recorded.{" "}
            {isRecording ? "Those of new calls are." : "Turn on Record to keep those of new calls, in memory."}
          </Notice>
        </div>
      )}
      {command !== undefined && (
        <section class="section" aria-label="As a command">
          <h3>As a command</h3>
          <Code text={command} copy />
          {!isKept && <p class="dim">Its arguments are not known.</p>}
          {isRedacted && <p class="dim">A secret in its arguments was left out, so it cannot be repeated from here.</p>}
        </section>
      )}
      {repeat !== undefined && (
        <div class="buttons left">
          <ActionButton icon="restart" run={() => repeatCall(workspace, repeat, args)}>
            Repeat
          </ActionButton>
        </div>
      )}
    </>
  );
}

/** Makes the call again, with policy and questions as for any client. It appears in the list by itself. */
async function repeatCall(
  workspace: string,
  repeat: NonNullable<CallDetails["repeat"]>,
  args: Json | undefined,
): Promise<void> {
  const given = (args ?? {}) as Readonly<Record<string, Json>>; // Arguments of calls are objects.
  if (repeat.kind === "tool") {
    const { server, tool } = repeat;
    const { isError, durationMs } = await ask("tools/call", { workspace, server, tool, arguments: given });
    showToast(
      isError
        ? new Error(`${server}.${tool} reports a failure.`)
        : `Repeated ${server}.${tool} in ${shownMs(durationMs)}.`,
    );
    return;
  }
  const { error, durationMs } = await ask("operation", { workspace, op: repeat.op, params: given });
  showToast(
    error === undefined
      ? `Repeated ${repeat.op} in ${shownMs(durationMs)}.`
      : new Error(`${error.code}: ${error.message}`),
  );
}
