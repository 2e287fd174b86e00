/** The extension's name in the capabilities of the modern era. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** The states of a task, in both eras. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** Whether a task in this state can no longer change. */
export function isTerminalTaskStatus(status: string): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
