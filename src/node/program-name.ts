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
}: {
  readonly launcher?: string;
  /** The npm command, if npm started this: "exec" for npx. */
  readonly command?: string;
  readonly folder?: string;
} = {}): string {
  if (command === "exec") return "npx graduate";
  if (basename(launcher) === "graduate") return "graduate";
  // Inside a checkout's own folders, npx runs the checkout.
  const isInside = folder === PACKAGE || !relative(PACKAGE, folder).startsWith("..");
  if (isInside && !PACKAGE.includes("node_modules")) return "npx graduate";
  return `node ${quoteArgument(launcher)}`;
}
