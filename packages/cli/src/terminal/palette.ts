// The colours of all output, named by what they mean. They are the terminal's own sixteen, so they fit any theme.
import type { OutputStream } from "./program-io.js";

export const COLOUR_MODES = ["auto", "always", "never"] as const;

/** The value of `--color`. */
export type ColourMode = (typeof COLOUR_MODES)[number];

/** Colours a text, or returns it unchanged. The text must already be printable. */
type Colour = (text: string) => string;

/** The colours that a whole line can have. */
export type Meaning = "error" | "warning" | "success" | "heading" | "dim";

/** Returns what the severity of a diagnostic looks like. */
export function meaningOf(severity: "error" | "warning" | "note"): Meaning {
  return severity === "note" ? "dim" : severity;
}

/** The colours for one stream. */
export interface Palette {
  /** Whether the stream is a terminal. Untrusted text has to be made printable for one, with or without colours. */
  readonly isTerminal: boolean;
  readonly hasColours: boolean;
  readonly error: Colour;
  readonly warning: Colour;
  readonly success: Colour;
  readonly heading: Colour;
  /** Paths, names, and whatever else the eye looks for. */
  readonly accent: Colour;
  readonly dim: Colour;
  /** Words that are stressed in running text. */
  readonly emphasis: Colour;
  /** The part of a text that was searched for. */
  readonly match: Colour;
}

/**
 * Returns the colours for a stream. In this order: `--color`, then `FORCE_COLOR`, then `NO_COLOR`, then whether the
 * stream is a terminal that is not dumb.
 */
export function paletteFor(
  stream: Pick<OutputStream, "isTTY">,
  env: Readonly<NodeJS.ProcessEnv>,
  mode: ColourMode = "auto",
): Palette {
  const isTerminal = stream.isTTY === true;
  const hasColours = mode === "auto" ? wantsColours(env, isTerminal) : mode === "always";
  const paint = (start: string, end: string): Colour => {
    const [on, off] = [`\u001b[${start}m`, `\u001b[${end}m`];
    // After a colour inside this one has ended, this one continues. Each line has its own codes, for pagers.
    return (text) =>
      hasColours && text !== ""
        ? `${on}${text.replaceAll(off, off + on).replaceAll("\n", `${off}\n${on}`)}${off}`
        : text;
  };
  return {
    isTerminal,
    hasColours,
    error: paint("31", "39"),
    warning: paint("33", "39"),
    success: paint("32", "39"),
    heading: paint("1", "22"),
    accent: paint("36", "39"),
    dim: paint("2", "22"),
    emphasis: paint("3", "23"),
    match: paint("1;31", "22;39"),
  };
}

/** https://force-color.org and https://no-color.org: an empty value counts as unset. `FORCE_COLOR=0` means no colours. */
function wantsColours({ FORCE_COLOR: force, NO_COLOR: none, TERM: term }: NodeJS.ProcessEnv, isTerminal: boolean) {
  if (force) return force !== "0" && force !== "false";
  return isTerminal && !none && term !== "dumb";
}
