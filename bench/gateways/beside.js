// Turns the figures of several programs into rows. Our figures are compared with the best of the other programs.

/** @typedef {{ name: string, isOurs: boolean, figure: number }} Figure */

/**
 * @param {readonly Figure[]} figures
 * @param {{ what: string, unit: string, best: "least" | "most" }} options
 * @returns {import("../report.js").Row[]}
 */
export function besideTheBest(figures, { what, unit, best }) {
  const others = figures.filter(({ isOurs }) => !isOurs).sort((a, b) => a.figure - b.figure);
  const ahead = best === "least" ? others[0] : others.at(-1);
  return figures.map(({ name, isOurs, figure }) => {
    const row = { what: `${what}: ${name}`, figure, unit };
    if (!isOurs || ahead === undefined) return row;
    const isBehind = best === "least" ? figure > ahead.figure : figure < ahead.figure;
    return { ...row, beside: `${ahead.name}, the best of the others`, ratio: figure / ahead.figure, isBehind };
  });
}
