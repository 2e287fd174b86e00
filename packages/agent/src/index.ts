/** Models, agent loops and scripts. Uses tools through the `ToolSource` port of core. */
import { registerAgent } from "./loop/agents.js";
import { reactAgent } from "./loop/react-agent.js";
import { toolsAgent } from "./loop/tools-agent.js";

export { Conversation, type ConversationOptions } from "./conversation/conversation.js";
export type { Agent, AgentEvent, AgentRequest, AgentResult } from "./loop/agent.js";
export { findAgent, listAgents, registerAgent } from "./loop/agents.js";
export { Budget, type BudgetKind, type BudgetLimits } from "./loop/budget.js";
export { type SubAgentTask, startAgent } from "./loop/delegate.js";
export { messageText, textMessage } from "./loop/message-history.js";
export { createModel, type ModelOptions } from "./model/create-model.js";
export { type EchoOptions, echoModel } from "./model/echo.js";
export type {
  FinishReason,
  Message,
  MessagePart,
  Model,
  ModelEvent,
  ModelRequest,
  ModelTool,
  TokenUsage,
} from "./model/model.js";
export { PROVIDER_NAMES, type ProviderFormat, type ProviderInfo, providerInfo } from "./model/providers.js";
export { type RetryOptions, retryModel } from "./model/retry.js";
export { addUsage, costOf, type ModelPrice, NO_USAGE, PRICES, PRICES_AS_OF, type PriceTable } from "./model/usage.js";
export { recordApprover, recordModel, recordTool } from "./record/record.js";
export { openReplay, type Replay } from "./record/replay.js";
export { openRunFile, type RunSink } from "./record/run-file.js";
export { createFrameKey, frameOutput, unframeOutput } from "./tools/framing.js";
export {
  type Approval,
  type Approver,
  allowList,
  approveAll,
  type CancellableTools,
  cancellableTools,
  isAllowed,
  oneAtATime,
  refuseAll,
  renderOutput,
  type Tool,
  type ToolOutput,
  type ToolsFromOptions,
  toolsFrom,
} from "./tools/tool.js";

registerAgent(toolsAgent);
registerAgent(reactAgent);
