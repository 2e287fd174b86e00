import { describeAgent } from "./agent-suite.js";

describeAgent("claude-code");
