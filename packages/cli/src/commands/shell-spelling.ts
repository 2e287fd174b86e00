// Operations of the store name their parameters as an agent writes them. At the command line the same parameters are
// options, and the operations are commands.
import type { Command } from "commander";

/** Spells `node_key` as --node-key if the command has that option, and `list` as `trunkline store list`. */
export function spelledForShell(text: string, command: Command | undefined): string {
  const parent = command?.parent;
  if (command === undefined || parent?.name() !== "store") return text;
  return text.replace(/`([a-z]+(?:_[a-z]+)*)`/g, (whole, name: string) => {
    const dashed = name.replaceAll("_", "-");
    if (command.options.some(({ long }) => long === `--${dashed}`)) return `--${dashed}`;
    const names = [dashed, dashed.replace(/^list-/, "")];
    const sibling = parent.commands.find((candidate) => names.includes(candidate.name()));
    return sibling === undefined ? whole : `\`trunkline store ${sibling.name()}\``;
  });
}
