/** The paper's printed tables, from paper/published.json: kept as text, since a printed 0.42 is not a 0.420. */

import { FormatError } from "graduate-survival/core";
import { z } from "zod";

export const METRICS = ["concordance", "logrank", "ece", "total"] as const;
export type Metric = (typeof METRICS)[number];

const printed = z.strictObject({
  value: z.string().regex(/^\d+(\.\d+)?$/),
  sd: z.string().exactOptional(),
  place: z.enum(["best", "second"]).exactOptional(),
  stars: z.enum(["*", "**"]).exactOptional(),
});

const publishedSchema = z.strictObject({
  about: z.string(),
  /** Table 1. */
  attributes: z.strictObject({
    columns: z.array(z.string()),
    rows: z.array(z.strictObject({ name: z.string(), values: z.array(z.boolean()) })),
  }),
  /** Tables 2 to 4. */
  population: z.array(
    z.strictObject({
      table: z.int(),
      cohort: z.string(),
      repeats: z.int(),
      rows: z.record(
        z.string(),
        z.strictObject({ concordance: printed, logrank: printed, ece: printed, total: printed }),
      ),
    }),
  ),
  /** Tables 5 to 7: wins-losses-draws of a system against others, over groups. */
  wins: z.array(
    z.strictObject({
      table: z.int(),
      cohort: z.string(),
      system: z.string(),
      groups: z.int(),
      rows: z.record(z.enum(METRICS), z.record(z.string(), z.string().regex(/^\d+-\d+-\d+$/))),
    }),
  ),
});

export type Published = Readonly<z.infer<typeof publishedSchema>>;
export type PrintedCell = Readonly<z.infer<typeof printed>>;

export function parsePublished(text: string, where: string): Published {
  const result = publishedSchema.safeParse(JSON.parse(text));
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0];
  throw new FormatError(`published tables: ${path.join(".")}: ${message}`, { code: "published", where });
}

/** As printed: value, stars, spread; bold and underlined as in the paper. */
export function formatPrinted(cell: PrintedCell | undefined): string {
  if (cell === undefined) return "–";
  const { value, sd, place, stars = "" } = cell;
  const text = `${value}${stars.replaceAll("*", "\\*")}`;
  const marked = place === "best" ? `**${text}**` : place === "second" ? `<u>${text}</u>` : text;
  return sd === undefined ? marked : `${marked} ± ${sd}`;
}
