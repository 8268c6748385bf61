/**
 * How to call the program again, in commands printed for pasting: the way it was called this time. It is never a bare
 * `npx graduate` where npx would look for a package of this name elsewhere: on the public registry that is a different
 * one.
 */
import { basename, dirname, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { quoteArgument } from "../report/words/command-words.ts";

const PACKAGE = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export function programName({
  launcher = process.argv[1] ?? "",
  command = process.env.npm_command ?? "",
  folder = process.cwd(),
  home = PACKAGE,
}: {
  readonly launcher?: string;
  /** The npm command, if npm started this: "exec" for npx. */
  readonly command?: string;
  readonly folder?: string;
  /** Where the package is. */
  readonly home?: string;
} = {}): string {
  // Of an installed package, npx finds the command by the package's name, wherever it was installed.
  if (command === "exec") return home.includes("node_modules") ? "npx graduate-survival" : "npx graduate";
  if (basename(launcher) === "graduate") return "graduate";
  // Inside a checkout's own folders, npx runs the checkout.
  const isInside = folder === home || !relative(home, folder).startsWith("..");
  if (isInside && !home.includes("node_modules")) return "npx graduate";
  return `node ${quoteArgument(launcher)}`;
}
