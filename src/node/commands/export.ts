/** `graduate export`: writes a model as a file that other programs can run. */
import { type Command, Option } from "commander";
import { present } from "../../core/present.ts";
import { modelToOnnx } from "../../files/onnx/onnx.ts";
import { wrapText } from "../../report/words/text-table.ts";
import { replaceFile } from "../io/growing-file.ts";
import { readModel } from "../io/model-file.ts";
import { refuseWrongSuffix } from "../io/output-path.ts";
import { print, printJson, terminalWidth } from "../print/output.ts";

interface ExportOptions {
  readonly onnx: string;
  readonly raw?: boolean;
  readonly json?: boolean;
}

export function addExport(program: Command): void {
  program
    .command("export")
    .description("write the model for other programs: an ONNX file that gives survival [N,T]")
    .argument("<model>", "a model that train wrote")
    .addOption(new Option("--onnx <file>", "write the ONNX file here").makeOptionMandatory())
    .option("--raw", "take the columns of the table as inputs, instead of the encoded features x")
    .option("--json", "print one JSON document")
    .action(runExport);
}

async function runExport(path: string, { onnx, raw = false, json }: ExportOptions): Promise<void> {
  refuseWrongSuffix({ onnx });
  const model = await readModel(path);
  const { bytes, inputs, output, incidence } = modelToOnnx(model, { raw });
  await replaceFile(onnx, bytes, "the ONNX file");
  if (json) {
    printJson({
      file: onnx,
      bytes: bytes.length,
      raw,
      method: model.method,
      inputs,
      output,
      ...present({ incidence }),
    });
    return;
  }
  print(`${model.method} model written to ${onnx}, ${bytes.length} bytes`);
  const outputs = [output, ...(incidence === undefined ? [] : [incidence])];
  for (const { name, type, shape, about } of [...inputs, ...outputs]) {
    const kind = outputs.some((one) => one.name === name) ? "output" : "input ";
    print(
      `${kind}  ${wrapText(`${name}  ${type} [${shape.join(",")}]  ${about}`, terminalWidth() - 8, "        ")}`,
    );
  }
}
