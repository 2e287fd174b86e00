import { describeAgent } from "./agent-suite.js";

describeAgent("codex-search");
describeAgent("codex-code");
describeAgent("codex-plain");
