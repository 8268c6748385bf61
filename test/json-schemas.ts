// The published schemas of what commands print with --json, compiled, and documents held to them.
import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";

const folder = new URL("../schemas/", import.meta.url);
const ENDING = ".schema.json";
/** What several commands print; no command prints it by itself. */
const DEFINITIONS = "definitions";
/** A second document that a command prints, known by a field that the first does not have. */
const SECOND: Readonly<Record<string, { readonly name: string; readonly field: string }>> = {
  audit: { name: "audit-causes", field: "causes" },
  compare: { name: "compare-causes", field: "causes" },
};

export type Schema = Readonly<Record<string, unknown>>;

/** Every file of the folder, by its name without the ending. */
export const schemas: ReadonlyMap<string, Schema> = new Map(
  readdirSync(folder).map((file) => [
    file.replace(ENDING, ""),
    JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Schema,
  ]),
);

/** The commands that have a schema. */
export const describedCommands: readonly string[] = [...schemas.keys()].filter(
  (name) => name !== DEFINITIONS && !Object.values(SECOND).some((second) => second.name === name),
);

const ajv = new Ajv2020({ strict: true, allErrors: true });
for (const schema of schemas.values()) ajv.addSchema(schema);

/** What is wrong with a document of the command, one line each; none when it is as promised. */
export function checkJson(command: string, value: unknown): readonly string[] {
  const second = SECOND[command];
  const isSecond = second !== undefined && Object.hasOwn(value as object, second.field);
  const name = isSecond ? second.name : command;
  const validate = describedCommands.includes(command) ? ajv.getSchema(`${name}${ENDING}`) : undefined;
  if (validate === undefined) throw new Error(`no schema of what "${command}" prints`);
  return validate(value) ? [] : (validate.errors ?? []).map(complain);
}

function complain({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath === "" ? "/" : instancePath} ${message} ${JSON.stringify(params)}`;
}
