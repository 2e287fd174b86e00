// hello: the plain, well-behaved server. Tools: hello {name?}, repeat {text, count?}. GREETING=short in its environment
// makes hello say "Hi" instead of "Hello". Options: only the common ones. Transports: stdio, --http (both eras,
// sessions for the legacy one), --sse.

import { hello, repeat } from "./greetings.js";
import { readOptions } from "./options.js";
import { createToolServer, serve } from "./sdk-serve.js";

await serve(() => createToolServer("hello", [hello, repeat]), readOptions({}));
