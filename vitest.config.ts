import { defineConfig } from "vitest/config";

const source = ["shiftwork-source"];

export default defineConfig({
  resolve: { conditions: source },
  ssr: { resolve: { conditions: source } },
  test: {
    // Most of a test file's time is waiting for a server: two share a core well, and vitest's own choice leaves one idle.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["{packages,services}/*/src/**/*.test.ts", "db/src/**/*.test.ts", "e2e/**/*.test.ts"],
          exclude: ["**/*.db.test.ts", "**/node_modules/**", "**/dist/**"],
        },
      },
      {
        extends: true,
        test: {
          name: "services",
          include: ["{packages,services}/*/src/**/*.db.test.ts", "db/src/**/*.db.test.ts", "e2e/**/*.db.test.ts"],
          exclude: ["**/node_modules/**", "**/dist/**"],
          globalSetup: ["packages/platform/src/testing/global-setup.ts"],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
