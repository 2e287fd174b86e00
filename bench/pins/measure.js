// Judges labelled changes with the rules of the client, and counts.
import { classifyChange, Neighbours } from "@trunkline/client/internal";

/** @typedef {import("./changes.js").LabelledChange} LabelledChange */

/** Whether a change would be held. @param {LabelledChange} change */
export function isHeld({ before, after, server = "server", others = [] }) {
  const neighbours = new Neighbours(server, () => others);
  return classifyChange(before ?? undefined, after, { neighbours }).change === "held";
}

/** @param {readonly LabelledChange[]} changes */
export function measure(changes) {
  const hostile = changes.filter(({ label }) => label === "hostile");
  const benign = changes.filter(({ label }) => label === "benign");
  return {
    hostile: hostile.length,
    benign: benign.length,
    missed: hostile.filter((change) => !isHeld(change)).map(({ id }) => id),
    falselyHeld: benign.filter(isHeld).map(({ id }) => id),
  };
}
