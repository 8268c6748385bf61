import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { offerSoftwareDevice } from "./test/compute/webgpu-device.ts";
import LongestFirst from "./test/longest-first.ts";
import { runBuilt } from "./test/run-built.ts";
import { SERVICES } from "./test/services.ts";

offerSoftwareDevice(process.env);

export default defineConfig({
  plugins: [runBuilt()],
  test: {
    include: ["test/**/*.test.ts", "paper/test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...SERVICES],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The default leaves one core idle; most tests here wait for a process of their own.
    maxWorkers: Math.max(2, availableParallelism()),
    // Modules are loaded, and compiled by the engine, once a worker instead of once a file. What that asks of a test:
    // it replaces no module, and puts back what it changes of the process.
    isolate: false,
    // The other core has a worker of its own to serve.
    execArgv: ["--single-threaded-gc", "--max-semi-space-size=32"],
    sequence: { sequencer: LongestFirst },
    // What is built is run as it stands, not compiled once more.
    server: { deps: { external: [/\/dist\/.*\.js$/] } },
    reporters: ["default", "./test/reporter.ts"],
  },
});
