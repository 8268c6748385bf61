/**
 * What a bundled table's schema.json says: where the table comes from and what each column means, in the order of the
 * file. `type` is the type the reader infers; codes that stand for something are spelled out in `values`. `role` tells
 * what may be learned from: only features; a "leak" is a column that gives the outcome away.
 */
import { z } from "zod";

const columnSchema = z.strictObject({
  name: z.string().min(1),
  type: z.enum(["number", "category", "boolean", "date"]),
  role: z.enum(["feature", "time", "event", "id", "leak"]),
  meaning: z.string().min(1),
  unit: z.string().min(1).exactOptional(),
  /** Value, as written in the file, to meaning. */
  values: z.record(z.string(), z.string().min(1)).exactOptional(),
});

export const datasetSchema = z
  .strictObject({
    name: z.string().min(1),
    title: z.string().min(1),
    source: z.string().min(1),
    licence: z.string().min(1),
    /** Names of the outcome columns. */
    time: z.string().min(1),
    event: z.string().min(1),
    columns: z.array(columnSchema).min(1),
  })
  .superRefine(({ time, event, columns }, context) => {
    const names = columns.map((column) => column.name);
    names.forEach((name, i) => {
      if (names.indexOf(name) !== i) {
        context.addIssue({
          code: "custom",
          path: ["columns", i, "name"],
          message: `repeated column: "${name}"`,
        });
      }
    });
    for (const [role, outcome] of [
      ["time", time],
      ["event", event],
    ] as const) {
      const holders = columns.filter((column) => column.role === role).map((column) => column.name);
      if (holders.length === 1 && holders[0] === outcome) continue;
      const those = holders.join(", ") || "none";
      const message = `"${outcome}" has to be the one column of role "${role}" (those are: ${those})`;
      context.addIssue({ code: "custom", path: [role], message });
    }
  });
