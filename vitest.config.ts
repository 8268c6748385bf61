import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    // The default leaves one core idle; most tests here wait for a process of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    reporters: ["default", "./test/reporter.ts"],
  },
});
