// Tests that need what npm does not install: a Redis, a Chromium, a graphics device. Where it is missing they are skipped
// and say so. And tests that start many programs, to stop, kill or race them. All run by `npm run test:services`, so that
// `npm test` stays short for everyone.
export const SERVICES = [
  "test/browser/**/*.test.ts",
  "test/cli/queue*.test.ts",
  "test/compute/webgpu*.test.ts",
  "test/node/claimed-path.test.ts",
  "test/node/file-lock.test.ts",
  "test/node/pipe-limit.test.ts",
  "test/node/process-end.test.ts",
  "test/node/queue*.test.ts",
  "test/report/*browser.test.ts",
  "test/studio/**/*.test.ts",
  "test/training/device-*.test.ts",
];
