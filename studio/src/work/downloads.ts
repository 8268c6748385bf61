/** The files that a person takes along: report, model, the model for other programs, and curves of judged rows. */
import { gridOf, modelToBytes, modelToOnnx } from "graduate-survival";
import { InputError } from "graduate-survival/core";
import type { FileKind, FileView } from "../protocol.ts";
import { stemOf } from "./request.ts";
import type { Judged } from "./verdict.ts";

interface Named extends Judged {
  readonly name: string;
}

/** `table` is the name of the table that is open. */
export function writeFile(kind: FileKind, judged: Named, table: string | null): FileView {
  const stem = stemOf(table ?? judged.name);
  switch (kind) {
    case "report":
      return textFile(`${stem}-report.html`, "text/html", judged.report ?? "");
    case "model":
      return binaryFile(`${stem}.model`, modelToBytes(judged.model));
    case "onnx":
      return binaryFile(`${stem}.onnx`, modelToOnnx(judged.model, { raw: true }).bytes);
    case "curves":
      return textFile(`${stem}-curves.csv`, "text/csv", writeCurves(judged));
  }
}

function binaryFile(name: string, bytes: Uint8Array): FileView {
  return { name, type: "application/octet-stream", bytes: new Uint8Array(bytes) };
}

function textFile(name: string, type: string, text: string): FileView {
  return { name, type, bytes: new TextEncoder().encode(text) };
}

/** One row a person: time, event and survival at the ends of the bins, as an audit of anyone's curves reads it. */
function writeCurves({ model, audited }: Named): string {
  if (audited === null) throw new InputError("no rows were judged", { code: "rows.none" });
  const { curves, outcomes, rows } = audited;
  const { T, survival } = curves;
  const edges = Array.from(gridOf(model).edges).slice(1);
  const lines = Array.from(rows, (row, i) => {
    const own = Array.from(survival.subarray(i * T, (i + 1) * T), String);
    return [row + 1, outcomes.time[i], outcomes.event[i], ...own].join(",");
  });
  return `${["row", "time", "event", ...edges.map((edge) => `S(${edge})`)].join(",")}\n${lines.join("\n")}\n`;
}
