#!/usr/bin/env node
// The command: builds the sources of a checkout once if needed, then hands over to the compiled program.
import { ensureBuilt, ensureStudioBuilt } from "./build.js";

ensureBuilt();
if (process.argv[2] === "studio") ensureStudioBuilt();
const [{ main }, { paperTargets }] = await Promise.all([import("../dist/node/cli.js"), import("./paper.js")]);
await main(process.argv, paperTargets);
