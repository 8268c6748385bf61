/**
 * Which browser the tests of this folder run in, and how it is started: a Chromium that is installed, without a window.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Nothing but the pages of the test: no sandbox (containers have none), no graphics card, no traffic of its own. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** GRADUATE_CHROMIUM if it is set, else the first of the usual names on the path; null where there is none. */
export function findChromium(): string | null {
  const named = process.env.GRADUATE_CHROMIUM;
  if (named !== undefined && named !== "") return isProgram(named) ? named : null;
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const candidates = NAMES.flatMap((name) => [...folders, "/usr/bin"].map((folder) => join(folder, name)));
  return candidates.find(isProgram) ?? null;
}

export const WHY_SKIPPED = `no Chromium found as ${NAMES.join(", ")} or as GRADUATE_CHROMIUM names it`;

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS });
}

/** With a graphics device that is a program, SwiftShader. */
export function launchWithSoftwareDevice(executablePath: string): Promise<Browser> {
  const args = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
  return chromium.launch({
    executablePath,
    args: [...FLAGS.filter((flag) => flag !== "--disable-gpu"), ...args],
  });
}
