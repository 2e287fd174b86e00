// The benchmarks, in the order of the page. When several run together, each gets only the `options` listed here.

/** @typedef {{ name: string, file: string, options?: readonly string[] }} Benchmark */

/** @type {readonly Benchmark[]} */
export const BENCHMARKS = [
  { name: "speed", file: "speed/run.js" },
  { name: "gateways", file: "gateways/run.js", options: ["--tools"] },
  { name: "broker", file: "broker/run.js" },
  { name: "console", file: "console.js" },
  { name: "caller", file: "caller/run.js" },
  { name: "tasks", file: "tasks/run.js", options: ["--tools"] },
  { name: "server-surface-tokens", file: "server/surface-tokens.js", options: ["--tools"] },
  { name: "server-find", file: "server/find.js", options: ["--tools"] },
  { name: "server-stdio", file: "server/stdio.js" },
  { name: "server-http", file: "server/http.js" },
  { name: "server-pipeline", file: "server/pipeline.js" },
  { name: "server-large-results", file: "server/large-results.js" },
  { name: "server-load", file: "server/load.js" },
  { name: "store-ingest", file: "store/ingest.js" },
  { name: "store-disk", file: "store/disk.js", options: ["--beir"] },
  { name: "store-restore", file: "store/restore.js" },
  { name: "store-grep", file: "store/grep.js" },
  { name: "store-search", file: "store/search.js" },
  { name: "store-drivers", file: "store/drivers.js" },
  { name: "store-quality", file: "store/quality.js", options: ["--beir"] },
  { name: "team", file: "team/run.js" },
  { name: "embed", file: "embed.js" },
  { name: "client", file: "client.js" },
  { name: "pins", file: "pins/run.js", options: ["--tools"] },
  { name: "install", file: "install.js" },
  { name: "startup", file: "startup.js" },
];
