import { describeAgent } from "./agent-suite.js";

describeAgent("gemini");
