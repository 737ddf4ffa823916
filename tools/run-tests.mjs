// Runs one of the test sets (unit, cluster, full) and ends with the line `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [set = 'unit', ...rest] = process.argv.slice(2);
const config = set === 'unit' ? 'vitest.config.ts' : `test/${set}/vitest.config.ts`;
const folder = mkdtempSync(join(tmpdir(), 'tenantry-tests-'));
const report = join(folder, 'report.json');
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    config,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...rest,
  ],
  { stdio: 'inherit' },
);
const result = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { numPassedTests: 0, numFailedTests: 1 };
rmSync(folder, { recursive: true });
console.log(`${result.numPassedTests} passed, ${result.numFailedTests} failed`);
process.exit(status === 0 && result.numPassedTests > 0 ? 0 : 1);
