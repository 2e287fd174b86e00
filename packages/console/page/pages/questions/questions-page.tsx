// Everything that waits for a person, in all workspaces.
import type { QuestionAnswer, QuestionRow } from "@trunkline/console/contract";
import { useEffect, useState } from "preact/hooks";
import type { PageProps } from "../../frame.js";
import { ask, useAnswer } from "../../kit/live.js";
import { Empty, ErrorNotice, Loading, PageHead } from "../../kit/parts.js";
import { QuestionCard } from "./question-card.js";
import "./questions.css";

/** How often the ages of questions are shown again. */
const AGE_MS = 10_000;

export function QuestionsPage(_props: PageProps) {
  const { data, error, reload } = useAnswer("questions", {}, ["questions", "definitions", "servers"]);
  const [answered, setAnswered] = useState<ReadonlySet<QuestionRow>>(new Set());
  const nowMs = useNow();
  const rows = data?.questions.filter((row) => !answered.has(row));
  const answer = async (row: QuestionRow, given: QuestionAnswer) => {
    try {
      await ask("questions/answer", { id: row.id, answer: given });
      // Until the next list comes. A row in that is another one, even if it has the same id.
      setAnswered((before) => new Set([...before, row]));
    } finally {
      reload();
    }
  };
  return (
    <>
      <PageHead title="Questions" about={rows === undefined ? undefined : aboutOf(rows.length)} />
      <div class="page-body padded">
        {error !== undefined && <ErrorNotice error={error} retry={reload} />}
        <div class="visually-hidden" aria-live="polite">
          {rows === undefined ? "" : aboutOf(rows.length)}
        </div>
        {rows === undefined ? (
          error === undefined && <Loading />
        ) : rows.length === 0 ? (
          <Empty icon="check" title="Nothing is waiting for you">
            <p>
              Questions from servers, approvals, sign-ins, projects that you have not approved and changed definitions
              appear here when there are any.
            </p>
          </Empty>
        ) : (
          <div class="questions">
            {rows.map((row) => (
              <QuestionCard key={row.id} row={row} nowMs={nowMs} answer={(given) => answer(row, given)} />
            ))}
          </div>
        )}
      </div>
    </>
  );
}

function aboutOf(count: number): string {
  return count === 0 ? "nothing is waiting for you" : `${count} waiting for you`;
}

function useNow(): number {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), AGE_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
