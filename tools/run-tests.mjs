// Runs one of the test sets and ends with the line `N passed, N failed`.
//   unit     what needs only Node (npm test)
//   cluster  real kube-apiserver, etcd and kubectl, namespaces, guests
//   full     what needs long third-party builds, then the unit set again on the newest Node we support
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const NEWEST_NODE = '24';

const [set = 'unit', ...rest] = process.argv.slice(2);
const totals = { passed: 0, failed: 0 };

function run(config, node, extra = []) {
  const first = vitest(config, node, extra);
  totals.passed += first.passed;
  if (first.ok) return;
  // Other work on the machine can make one test in thousands miss its moment. What failed gets one more chance, alone and in the open:
  // a defect fails again, and what passes only now is named, so that somebody can make the test wait for what it needs.
  const again = first.failedFiles.length === 0 ? first : vitest(config, node, ['--maxWorkers=1', ...first.failedFiles]);
  if (again.ok) console.log(`Passed only when run again, alone: ${first.failedTests.join('; ')}`);
  totals.passed += again.ok ? first.failed : 0;
  // A file that cannot be loaded fails the run without failing a test.
  totals.failed += again.ok ? 0 : Math.max(1, again.failed);
}

function vitest(config, node, extra) {
  const folder = mkdtempSync(join(tmpdir(), 'tenantry-tests-'));
  const report = join(folder, 'report.json');
  const args = ['run', '--config', config, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...extra];
  const { status } = spawnSync(node, ['node_modules/vitest/vitest.mjs', ...args], { stdio: 'inherit' });
  const result = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { numPassedTests: 0, numFailedTests: 0, testResults: [] };
  rmSync(folder, { recursive: true });
  const failedFiles = result.testResults.filter((file) => file.status === 'failed');
  const failedTests = failedFiles.flatMap((file) =>
    file.assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName),
  );
  return {
    ok: status === 0,
    passed: result.numPassedTests,
    failed: result.numFailedTests,
    failedFiles: failedFiles.map((file) => file.name),
    failedTests,
  };
}

/** A Node of another version, from the package registry, cached outside the tree. */
function otherNode(version) {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tenantry', `node-${version}`);
  const name = `node-${process.platform}-${process.arch}`;
  const binary = join(folder, 'node_modules', name, 'bin', 'node');
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    const { status } = spawnSync('npm', ['install', '--no-save', '--prefix', folder, `${name}@${version}`], { stdio: 'inherit' });
    if (status !== 0) throw new Error(`Cannot install Node ${version}: npm failed; see above`);
  }
  return binary;
}

switch (set) {
  case 'unit':
    run('vitest.config.ts', process.execPath, rest);
    break;
  case 'cluster':
    run('test/cluster/vitest.config.ts', process.execPath, rest);
    break;
  case 'full':
    run('test/full/vitest.config.ts', process.execPath, rest);
    if (rest.length === 0) run('vitest.config.ts', otherNode(NEWEST_NODE));
    // The promise of the event loop to the letter: it needs a machine with nothing else to do.
    if (rest.length === 0) {
      process.env.TENANTRY_QUIET_MACHINE = '1';
      run('vitest.config.ts', process.execPath, ['--maxWorkers=1', 'test/fault/engine/hostile-']);
    }
    break;
  default:
    console.error(`Cannot run the test set "${set}": the sets are unit, cluster and full`);
    process.exit(2);
}
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
