// Runs the command as a person would, in a process of its own.
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
const launcher = join(root, "bin", "graduate.js");

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runCli(args: readonly string[], input = ""): CliResult {
  const result = spawnSync(process.execPath, [launcher, ...args], {
    cwd: root,
    encoding: "utf8",
    input,
    maxBuffer: 2 ** 26,
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** The document a command prints with --json; fails loudly when it prints anything else. */
export function runJson<T>(args: readonly string[]): T {
  const { code, stdout, stderr } = runCli([...args, "--json"]);
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

const scratch = mkdtempSync(join(tmpdir(), "graduate-cli-"));

/** A file in a folder of its own that outlives the test only until the machine clears it. */
export function writeScratch(name: string, content: string | Uint8Array): string {
  const path = join(scratch, name);
  writeFileSync(path, content);
  return path;
}
