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
export { endThread, startThread, type Thread } from "./thread.js";
