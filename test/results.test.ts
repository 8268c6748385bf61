// The pages of docs/results are what their scripts make of the committed lines.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("..", import.meta.url);

test("docs/results/quality.md is made from paper/quality.jsonl", () => {
  const made = execFileSync(process.execPath, ["paper/quality-table.js"], { cwd: root, encoding: "utf8" });
  expect(made).toBe(readFileSync(new URL("docs/results/quality.md", root), "utf8"));
});
