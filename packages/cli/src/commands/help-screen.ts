// `trunkline --help`: all commands in groups, on one screen of 24 lines and 80 columns.
import { type Command, Help } from "commander";
import { GROUPS } from "./outline.js";

/** Formats the list of all commands for the program itself, and everything else as commander does. */
export function formatHelp(command: Command, helper: Help): string {
  return command.parent === null
    ? helpScreen(command, helper)
    : Help.prototype.formatHelp.call(helper, command, helper);
}

function helpScreen(program: Command, helper: Help): string {
  const rows = Object.values(GROUPS).flat();
  const termWidth = Math.max(...rows.map(({ commands }) => commands.join(", ").length));
  const groups = Object.entries(GROUPS).flatMap(([title, members]) => [
    helper.styleTitle(title),
    ...members.map(({ commands, about }) => helper.formatItem(commands.join(", "), termWidth, about, helper)),
  ]);
  const options = helper.visibleOptions(program).map(({ flags, long }) => flags.slice(flags.indexOf(long ?? "")));
  const wrapped = (text: string) => helper.boxWrap(text, helper.helpWidth ?? Number.POSITIVE_INFINITY);
  return [
    "Usage: trunkline [options] <command>",
    "",
    ...groups,
    wrapped(`Options: ${options.join(", ")}`),
    wrapped("`trunkline <command> --help` explains a command, `trunkline` what to do next."),
    "",
  ].join("\n");
}
