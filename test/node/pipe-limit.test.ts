// What comes by a pipe or a device may have no end: it is refused before the memory is full. Files may be of any size.
import { spawn, spawnSync } from "node:child_process";
import { createReadStream, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { launcher, root, runFresh, writeScratch } from "../cli/run-cli.ts";

const table = join(root, "datasets", "nwtco", "nwtco.csv");
const km = (path: string) => ["km", path, "--time", "edrel", "--event", "rel"];

/** The command with this on its standard input, and what it took of it. */
async function pipe(source: Readable, limit?: string) {
  const env = { ...process.env, ...(limit === undefined ? {} : { GRADUATE_PIPE_LIMIT: limit }) };
  const child = spawn(process.execPath, [launcher, ...km("-")], { env });
  let stderr = "";
  child.stderr.on("data", (part) => {
    stderr += part;
  });
  child.stdout.resume();
  child.stdin.on("error", () => source.destroy());
  source.pipe(child.stdin);
  const code = await new Promise((resolve) => child.once("close", resolve));
  source.destroy();
  return { code, stderr: stderr.replace(/\s+/g, " ") };
}

const endless = (text: string) => {
  const block = Buffer.from(text.repeat(Math.ceil(65536 / text.length)));
  return new Readable({
    read() {
      this.push(block);
    },
  });
};

describe.runIf(existsSync("/dev/zero"))("devices", () => {
  test.each(["/dev/zero", "/dev/urandom"])("%s is refused at once", (device) => {
    const { code, stderr } = runFresh(km(device));
    expect([code, stderr]).toEqual([1, expect.stringContaining("graduate: not a table: it looks like")]);
  });
});

test.each([
  ["zeros", "\0", "not a table: it looks like a binary file: it has zero bytes in standard input"],
  ["one line without end", "a", "not a table: its first 16 MB have no line break in standard input"],
])("%s without end", async (_, text, sentence) => {
  expect(await pipe(endless(text))).toEqual({ code: 1, stderr: expect.stringContaining(sentence) });
});

test("lines without end are refused at the limit, with how to raise it", async () => {
  const refused = await pipe(endless("1,2,3\n"), "30 MB");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(
    "graduate: more than 0.03 GB comes by a pipe or a device in standard input",
  );
  expect(refused.stderr).toContain(
    "write it to a file, which may have any size, or raise the limit: GRADUATE_PIPE_LIMIT=8GB",
  );
});

test("a limit is a size, and a table below it is read", async () => {
  expect((await pipe(createReadStream(table), "1MB")).code).toBe(0);
  expect((await pipe(createReadStream(table), "20000")).code).toBe(1);
  const refused = await pipe(createReadStream(table), "much");
  expect(refused.stderr).toContain('GRADUATE_PIPE_LIMIT is no size: "much"');
});

test("a regular file has no limit, also on standard input", () => {
  const [header, ...rows] = readFileSync(table, "utf8").trimEnd().split("\n");
  const long = writeScratch("long.csv", "");
  writeFileSync(long, `${[header, ...rows].join("\n")}\n`);
  const env = { ...process.env, GRADUATE_PIPE_LIMIT: "1000" };
  const command = `"$0" "$1" km - --time edrel --event rel < "$2"`;
  const given = spawnSync("bash", ["-c", command, process.execPath, launcher, long], {
    env,
    encoding: "utf8",
  });
  expect([given.status, given.stderr]).toEqual([0, expect.not.stringContaining("graduate:")]);
});
