/**
 * The worker of the page: answers its questions one by one, and turns whatever is thrown into words. All reading,
 * checking, training and auditing happens on this side, so that the page always answers.
 */
import { config } from "zod";
import type { DeskCall, FromDesk } from "../protocol.ts";
import { createDesk } from "./desk.ts";
import { describeTrouble } from "./trouble.ts";

// The page's policy forbids code made of text, which zod would otherwise try.
config({ jitless: true });

/** Milliseconds between two messages of how far something is: the page draws each of them. */
const SAY_EVERY = 100;
let saidAt = Number.NEGATIVE_INFINITY;

function tell(message: FromDesk): void {
  if (message.type === "progress") {
    const now = performance.now();
    if (now - saidAt < SAY_EVERY) return;
    saidAt = now;
  }
  postMessage(message);
}

const desk = createDesk(tell);

addEventListener("message", async ({ data }: MessageEvent<DeskCall>) => {
  const { id, name, args } = data;
  try {
    const answer = desk[name] as (...all: readonly unknown[]) => Promise<unknown>;
    tell({ type: "answer", id, value: await answer(...args) });
  } catch (error) {
    tell({ type: "trouble", id, trouble: describeTrouble(error) });
  }
});
