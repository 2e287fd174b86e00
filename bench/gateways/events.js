// Parses server-sent events as they arrive.

/**
 * Takes chunks of a stream and emits the data of each event. Nothing is scanned twice, so the cost of a large event is
 * linear in its length.
 * @param {(data: string, type: string) => void} onEvent
 */
export function eventReader(onEvent) {
  /** @type {string[]} */
  let held = [];
  let last = "";
  return (/** @type {string} */ text) => {
    const ends = `${last}${text}`.includes("\n\n");
    held.push(text);
    last = text.slice(-1);
    if (!ends) return;
    const events = held.join("").split("\n\n");
    held = [events.pop() ?? ""];
    for (const event of events) {
      const lines = event.split("\n");
      const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
      const type =
        lines
          .find((line) => line.startsWith("event:"))
          ?.slice(6)
          .trim() ?? "message";
      if (data.length > 0) onEvent(data.join("\n"), type);
    }
  };
}
