export {
  type Call,
  type Handlers,
  makeAbortFlags,
  noMethod,
  type Remotes,
  RpcClient,
  type RpcOptions,
  remotesOf,
  serveRpc,
  Transferred,
} from "./rpc.js";
export { endThread, startThread, THREAD_LIMITS, type Thread } from "./thread.js";
