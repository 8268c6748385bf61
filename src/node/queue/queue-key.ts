/**
 * A key that submitters and workers share and Redis does not know: with it plans, tasks and results carry a seal
 * (HMAC-SHA-256), and what has none, or a wrong one, is not taken. Who can write to Redis can then delay runs and make
 * them anew, but can have none computed that nobody asked for and can leave no number. A seal covers what it is of, the
 * plan and the run, so that a result cannot be passed off as another run's. Without a key there are no seals.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { InputError } from "../../core/errors.ts";

/** Where the key is: not on the command line, which a list of processes shows. */
const KEY_VARIABLE = "GRADUATE_QUEUE_KEY";
/** A shorter one could be guessed from a seal. */
const LEAST_LENGTH = 16;
/** Digits of a key that tell plans of different keys apart. */
const MARK_DIGITS = 16;

type Sealed = "plan" | "run" | "result";

export interface QueueKey {
  /** Null without a key. */
  seal(what: Sealed, parts: readonly unknown[]): string | null;
  /** Whether the seal is that of this key; without a key, whether there is none. */
  isSealed(what: Sealed, parts: readonly unknown[], seal: string | null): boolean;
  /** Tells plans of this key from others; null without a key. */
  readonly mark: string | null;
}

export function readQueueKey(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): QueueKey {
  const key = environment[KEY_VARIABLE]?.trim() ?? "";
  if (key === "") return { seal: () => null, isSealed: (_what, _parts, seal) => seal === null, mark: null };
  if (key.length < LEAST_LENGTH) {
    throw new InputError(`${KEY_VARIABLE} is shorter than ${LEAST_LENGTH} characters`, {
      code: "queue.key",
      hint: "make one with `openssl rand -hex 32`, and give it to submitters and workers alike",
    });
  }
  const seal = (what: string, parts: readonly unknown[]) =>
    createHmac("sha256", key)
      .update(JSON.stringify([what, ...parts]))
      .digest("hex");
  return {
    seal,
    isSealed(what, parts, found) {
      const [own, other] = [seal(what, parts), found ?? ""].map((text) => Buffer.from(text));
      return own.length === other.length && timingSafeEqual(own, other);
    },
    mark: seal("mark", []).slice(0, MARK_DIGITS),
  };
}

/** Why a plan or a result is not taken. */
export function sayUnsealed({ mark }: QueueKey): string {
  return mark === null
    ? `it is sealed, and this program has no key: set ${KEY_VARIABLE}`
    : `it is not sealed with the key in ${KEY_VARIABLE}`;
}
