/**
 * A file whose name promises another kind of content misleads whoever opens it: `boost --out x.model` would be a CSV
 * file that `predict` refuses, or would overwrite a model of that name. Suffixes not listed here are accepted for any
 * content.
 */
import { extname } from "node:path";
import { InputError } from "../../core/errors.ts";

/** What is written, by kind: its description in a sentence, and the suffixes that fit. */
const WRITTEN = {
  curves: { what: "curves are written as CSV or Parquet", fit: [".csv", ".parquet"] },
  model: { what: "a model is written", fit: [".model"] },
  checkpoint: { what: "a checkpoint is written", fit: [".ckpt", ".checkpoint"] },
  report: { what: "the report is written as HTML", fit: [".html", ".htm"] },
  plot: { what: "the plot is written as SVG", fit: [".svg"] },
  onnx: { what: "an ONNX file is written", fit: [".onnx"] },
  repair: { what: "the repair is written as JSON", fit: [".json"] },
  runs: { what: "the runs are written as lines of JSON", fit: [".jsonl"] },
} as const;

export type Written = keyof typeof WRITTEN;

/** Suffixes that promise a kind of content. */
const PROMISES: Readonly<Record<string, string>> = {
  ".csv": "a CSV file",
  ".tsv": "a file of tabs",
  ".parquet": "a Parquet file",
  ".xlsx": "a spreadsheet",
  ".gz": "a compressed file",
  ".zip": "a compressed file",
  ".model": "a model",
  ".ckpt": "a checkpoint",
  ".checkpoint": "a checkpoint",
  ".onnx": "an ONNX file",
  ".html": "a page",
  ".htm": "a page",
  ".md": "a page of Markdown",
  ".pdf": "a PDF file",
  ".svg": "an SVG file",
  ".png": "a PNG file",
  ".jpg": "a JPEG file",
  ".json": "a JSON file",
  ".jsonl": "a file of JSON lines",
};

/** Refuses a name that promises another kind of file than the one written. */
export function refuseWrongSuffix(outputs: Readonly<Partial<Record<Written, string | undefined>>>): void {
  for (const [written, path] of Object.entries(outputs)) {
    if (path === undefined) continue;
    const suffix = extname(path).toLowerCase();
    const { what, fit } = WRITTEN[written as Written];
    const promised = PROMISES[suffix];
    if (promised === undefined || (fit as readonly string[]).includes(suffix)) continue;
    throw new InputError(`${what}, but the name is that of ${promised}: "${path}"`, {
      code: "file.suffix",
      hint: `name a file that ends in ${fit.join(" or ")}`,
    });
  }
}
