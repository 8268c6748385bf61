/**
 * What training reported about its table, as a model file keeps it: sentences in parts (core/sentence.ts), each with
 * its level. A report needs the parts, because it words counts of few people and values of single people differently
 * from the terminal.
 */
import { z } from "zod";
import type { Part } from "../../core/sentence.ts";
import type { Notice } from "../../data/checks/findings.ts";
import { count, describing, list } from "./schema-parts.ts";

const text = z.string();

const part = describing<Part>()(
  z.union([
    text,
    z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("count"), count, noun: text }),
      z.strictObject({ kind: z.literal("whole"), lead: z.enum(["all", "none of the"]), count, noun: text }),
      z.strictObject({
        kind: z.literal("share"),
        part: count,
        whole: count,
        before: z.enum(["the", "the other"]).exactOptional(),
        noun: text.exactOptional(),
        percent: z.boolean().exactOptional(),
        these: z.boolean().exactOptional(),
      }),
      z.strictObject({
        kind: z.literal("among"),
        part: count,
        partNoun: text,
        whole: count,
        wholeNoun: text,
      }),
      z.strictObject({ kind: z.literal("percent"), part: count, whole: count, of: text.exactOptional() }),
      z.strictObject({ kind: z.literal("verb"), count, one: text, many: text }),
      z.strictObject({ kind: z.literal("rows"), text, count }),
      z.strictObject({ kind: z.literal("value"), text, instead: text }),
    ]),
  ]),
);

export const notices = list(
  describing<Notice>()(
    z.strictObject({
      level: z.enum(["error", "warning", "note"]),
      sentence: z.strictObject({
        parts: list(part),
        consequence: text.exactOptional(),
        hint: text.exactOptional(),
      }),
    }),
  ),
);
