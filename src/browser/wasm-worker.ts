/** One thread of the wasm backend in a browser: takes its start message and serves until it is told to quit. */
import { type FromKernelThread, type StartKernels, serveKernels } from "../compute/wasm/worker.ts";

addEventListener(
  "message",
  (event: MessageEvent<StartKernels>) =>
    serveKernels(event.data, (message: FromKernelThread) => postMessage(message)),
  { once: true },
);
