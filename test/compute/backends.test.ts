// Every case on every backend.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Backend } from "../../src/compute/backend.ts";
import { BackendScope } from "../../src/compute/memory.ts";
import { BACKENDS } from "./backends.ts";
import { CASES } from "./cases.ts";

describe.each(BACKENDS)("$name", ({ open, slow }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  test.each(CASES.filter(({ heavy }) => !(heavy && slow)))("$name", async ({ run }) => {
    // A scope passes everything on, and gives the case's memory back.
    const scope = new BackendScope(backend);
    await run(scope);
    scope.end();
  });

  test("says what it is", () => {
    expect(["reference", "wasm", "webgpu"]).toContain(backend.name);
    expect(["f32", "f64"]).toContain(backend.precision);
    expect(backend.threads).toBeGreaterThanOrEqual(1);
  });

  test("closing it is harmless, and closing it twice too", async () => {
    const other = await open();
    await other.close();
    await expect(other.close()).resolves.toBeUndefined();
  });
});
