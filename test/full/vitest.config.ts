import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/full/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    // The first start builds what the tests talk with.
    hookTimeout: 1_800_000,
  },
});
