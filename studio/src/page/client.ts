/** The page's side of the worker: a question by name gives a promise; what the worker tells meanwhile is passed on. */
import type { Desk, DeskCall, FromDesk, Trouble } from "../protocol.ts";

/** What the worker refused, with its words. */
export class Refusal extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble) {
    super(trouble.message);
    this.trouble = trouble;
  }
}

type Told = Exclude<FromDesk, { readonly id: number }>;
type Waiting = { resolve(value: unknown): void; reject(error: Refusal): void };

/** Starts the worker. */
export function openDesk(listen: (told: Told) => void): Desk {
  const worker = new Worker(new URL("../work/worker.ts", import.meta.url), { type: "module" });
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  worker.addEventListener("message", ({ data }: MessageEvent<FromDesk>) => {
    if (!("id" in data)) return listen(data);
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.type === "answer") call?.resolve(data.value);
    else call?.reject(new Refusal(data.trouble));
  });
  worker.addEventListener("error", ({ message }) => {
    const refusal = new Refusal({
      message: `the worker failed: ${message || "its script could not be loaded"}`,
    });
    for (const { reject } of waiting.values()) reject(refusal);
    waiting.clear();
  });
  const ask =
    (name: keyof Desk) =>
    (...args: readonly unknown[]) =>
      new Promise((resolve, reject) => {
        const id = ++calls;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, name, args } satisfies DeskCall);
      });
  return new Proxy({} as Desk, { get: (_, name) => ask(name as keyof Desk) });
}
