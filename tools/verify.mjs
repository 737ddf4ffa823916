// The gate: formatting, lint, types, import boundaries, then the unit tests. Stops at the first that fails.
import { spawnSync } from 'node:child_process';

const GATES = [
  ['format', 'node_modules/.bin/oxfmt', ['--check', '--config', '.oxfmtrc.json', 'src', 'test', 'tools', 'bench']],
  ['lint', 'node_modules/.bin/oxlint', ['--type-aware', '--deny-warnings', 'src', 'test', 'tools', 'bench']],
  ['types', 'node_modules/.bin/tsc', ['-p', '.']],
  ['boundaries', process.execPath, ['tools/check-boundaries.mjs']],
  ['tests', process.execPath, ['tools/run-tests.mjs', 'unit']],
];

const only = process.argv.slice(2);
for (const [name, command, args] of GATES) {
  if (only.length > 0 && !only.includes(name)) continue;
  const started = Date.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (status !== 0) process.exit(1);
}
