// A worker of tiny runs in a process of its own, which a test can kill: node tiny-worker.js URL SECONDS CONCURRENCY.
import { attendQueue } from "../../dist/node/queue/attend-queue.js";
import { openQueue } from "../../dist/node/queue/open-queue.js";

const [url, lostAfter, concurrency] = process.argv.slice(2);
const queue = await openQueue(url);
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
await attendQueue(queue, {
  name: `tiny-${process.pid}`,
  concurrency: Number(concurrency),
  lostAfter: Number(lostAfter),
  tables: ".",
  untilEmpty: false,
  kinds: {
    tiny: async (_head, shared) => ({
      module: new URL("tiny-runs.js", import.meta.url),
      shared,
      place: "thread",
      readTask: (task) => (typeof task?.n === "number" ? task : null),
    }),
  },
  tell: () => {},
  stop: stop.signal,
  abandon: new AbortController().signal,
});
queue.close();
