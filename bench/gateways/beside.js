// Turns the figures of several programs into rows. Our figures are compared with the best of the other programs, and
// all figures with the limit.

/** @typedef {import("./gateways.js").Gateway["role"]} Role */
/** @typedef {{ name: string, role: Role, figure: number }} Figure */

/** Returns the best figure of the other programs. @param {readonly Figure[]} figures @param {"least" | "most"} best */
export function bestPeer(figures, best) {
  const peers = figures.filter(({ role }) => role === "peer").sort((a, b) => a.figure - b.figure);
  return best === "least" ? peers[0] : peers.at(-1);
}

/**
 * @param {readonly Figure[]} figures
 * @param {{ what: string, unit: string, best: "least" | "most" }} options
 * @returns {import("../report.js").Row[]}
 */
export function besideTheBest(figures, { what, unit, best }) {
  const ahead = bestPeer(figures, best);
  const limit = figures.find(({ role }) => role === "limit");
  return figures.map(({ name, role, figure }) => {
    const row = { what: `${what}: ${name}`, figure, unit };
    if (role === "limit") return row;
    const ofLimit = limit === undefined || !Number.isFinite(limit.figure) ? {} : { ofLimit: figure / limit.figure };
    if (role === "peer" || ahead === undefined) return { ...row, ...ofLimit };
    const isBehind = best === "least" ? figure > ahead.figure : figure < ahead.figure;
    return {
      ...row,
      ...ofLimit,
      beside: `${ahead.name}, the best of the others`,
      ratio: figure / ahead.figure,
      isBehind,
    };
  });
}
