/** One thread of the wasm backend in Node: takes its start message and serves until it is told to quit. */
import { parentPort } from "node:worker_threads";
import { type StartKernels, serveKernels } from "../../compute/wasm/worker.ts";

const port = parentPort;
port?.once("message", (start: StartKernels) => serveKernels(start, (message) => port.postMessage(message)));
