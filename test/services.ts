// Tests that need what npm does not install: a Redis, a Chromium, a graphics device. Where it is missing they are skipped
// and say so. They run by `npm run test:services`, so that `npm test` stays short for everyone.
export const SERVICES = [
  "test/browser/**/*.test.ts",
  "test/cli/queue*.test.ts",
  "test/compute/webgpu*.test.ts",
  "test/node/queue*.test.ts",
  "test/report/*browser.test.ts",
  "test/studio/**/*.test.ts",
  "test/training/device-*.test.ts",
];
