// Stands between a test, which waits for its command without turning its event loop, and the warm process, which answers
// by messages. A process that ended (a command may end it) is started again for the next command.
import { fork } from "node:child_process";
import { openSync } from "node:fs";
import { workerData } from "node:worker_threads";

const { port, answered, program, launcher, stdout, stderr } = workerData;
let child = null;

function reply(answer) {
  port.postMessage(answer);
  Atomics.store(answered, 0, 1);
  Atomics.notify(answered, 0);
}

function start() {
  const stdio = ["ignore", openSync(stdout, "a"), openSync(stderr, "a"), "ipc"];
  // As vitest.config.ts has it for the workers.
  const execArgv = ["--single-threaded-gc", "--max-semi-space-size=32"];
  const started = fork(program, [launcher], { stdio, execArgv });
  started.on("message", reply);
  started.on("exit", (code) => {
    child = null;
    reply({ code, running: [] });
  });
  return started;
}

port.on("message", (request) => {
  child ??= start();
  child.send(request);
});
