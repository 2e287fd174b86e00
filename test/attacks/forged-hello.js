// A program that speaks the broker's protocol itself and claims what it likes. Prints the kind and the text of the first
// frame that decides. Arguments: the socket, the hello as JSON, "own" to claim its own process id, and "follow" to print
// what the command writes, and its exit code.
import { writeFileSync } from "node:fs";
import { connect } from "node:net";

const [socketPath = "", text = "{}", whose = "", follow = ""] = process.argv.slice(2);
const HELLO = 1;
const WELCOME = 2;
const REFUSED = 3;
const STDOUT = 9;
const STDERR = 10;
const EXIT = 16;
const PROOF = 21;

const hello = JSON.parse(text);
if (whose === "own") hello.pid = process.pid;

const socket = connect(socketPath);
let bytes = Buffer.alloc(0);

/**
 * @param {number} kind
 * @param {Buffer} payload
 */
function send(kind, payload) {
  const head = Buffer.alloc(5);
  head.writeUInt32LE(payload.length, 0);
  head.writeUInt8(kind, 4);
  socket.write(Buffer.concat([head, payload]));
}

/**
 * @param {number} kind
 * @param {Buffer} payload
 */
function onFrame(kind, payload) {
  if (kind === PROOF) {
    try {
      writeFileSync("/proc/self/comm", payload);
    } catch (error) {
      console.error(error);
    }
    send(PROOF, Buffer.alloc(0));
  } else if (kind === WELCOME || kind === REFUSED) {
    console.log(kind === WELCOME ? "welcome" : `refused ${payload}`);
    if (kind === REFUSED || follow === "") process.exit(0);
  } else if (kind === STDOUT || kind === STDERR) process.stdout.write(payload);
  else if (kind === EXIT) {
    console.log(`exit ${payload}`);
    process.exit(0);
  }
}

socket.on("connect", () => send(HELLO, Buffer.from(JSON.stringify(hello))));
socket.on("data", (/** @type {Buffer} */ chunk) => {
  bytes = Buffer.concat([bytes, chunk]);
  while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32LE(0)) {
    const end = 5 + bytes.readUInt32LE(0);
    onFrame(bytes.readUInt8(4), bytes.subarray(5, end));
    bytes = bytes.subarray(end);
  }
});
socket.on("close", () => console.log("closed"));
socket.on("error", (error) => console.log(`error ${error.message}`));
