import { join } from "node:path";
import { expect, test } from "vitest";
import { programName } from "../../src/node/program-name.ts";
import { root } from "../cli/run-cli.ts";

const launcher = join(root, "bin", "graduate.js");

test.each([
  ["by npx", { launcher, command: "exec", folder: "/data" }, "npx graduate"],
  [
    "by npx, installed",
    { command: "exec", home: "/p/node_modules/graduate-survival" },
    "npx graduate-survival",
  ],
  ["from the path", { launcher: "/usr/bin/graduate", folder: "/data" }, "graduate"],
  ["in the checkout", { launcher, command: "run-script", folder: join(root, "datasets") }, "npx graduate"],
  ["elsewhere", { launcher: "/opt/bin/graduate.js", folder: "/" }, "node /opt/bin/graduate.js"],
  ["elsewhere, quoted", { launcher: "/my files/graduate.js", folder: "/" }, "node '/my files/graduate.js'"],
])("called %s", (_, how, expected) => {
  expect(programName({ command: "", ...how })).toBe(expected);
});
