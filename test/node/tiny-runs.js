// Runs that take next to no time, for tests and benchmarks of the queue alone. A task says what becomes of it: its square,
// a refusal, or a thread that dies. Each run that is made leaves a line in `log`, if there is one.
import { appendFileSync } from "node:fs";
import { InputError } from "../../dist/core/errors.js";
import { serveRuns } from "../../dist/node/workers/run-worker.js";

serveRuns(
  ({ log }) =>
    async function* ({ n, milliseconds = 0, fate = "made" }) {
      yield 0.5;
      if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
      if (log !== undefined) appendFileSync(log, `${n}\n`);
      if (fate === "refused") throw new InputError(`no such number: ${n}`, { code: "tiny" });
      if (fate === "lost") process.exit(1);
      return { square: n * n, list: Float64Array.of(n, Number.NaN) };
    },
);
