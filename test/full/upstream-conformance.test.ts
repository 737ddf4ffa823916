import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { spawnEngine } from '../support/spawned-engine.ts';
import { binary } from '../cluster/binaries.ts';
import { focusOf, readBlocks, readReport, type SpecName } from './upstream-conformance-specs.ts';

const BLOCKS = readBlocks(readFileSync(new URL('upstream-conformance.txt', import.meta.url), 'utf8'));
/** The slowest block takes two minutes on two quiet cores, most of them waiting: upstream watches for what must not happen. */
const BLOCK_TIMEOUT_MS = 10 * 60 * 1000;

/** Kubernetes' own conformance specs, unchanged, against `tenantry up`. */
describe('upstream conformance', () => {
  let suite: string;
  let kubectl: string;
  beforeAll(async () => {
    kubectl = await binary('kubectl');
    suite = await binary('e2e.test');
  });

  test('docs/conformance.md says the same as the list', () => {
    const rows = readFileSync('docs/conformance.md', 'utf8').matchAll(/^\| (.+) \| passes \|$/gm);
    const told = Array.from(rows, ([, name]) => `[sig-api-machinery] ${name}`);
    expect(told.toSorted()).toEqual(BLOCKS.flat().toSorted());
  });

  test.concurrent.each(BLOCKS.map((specs, at) => ({ block: at + 1, specs })))(
    'the $specs.length specs of block $block pass',
    async ({ specs }) => {
      const folder = mkdtempSync(join(tmpdir(), 'tenantry-upstream-'));
      const engine = await spawnEngine(join(folder, 'data'), { args: ['--node', 'none'] });
      try {
        const ends = await runSpecs(specs, engine.target.kubeconfig, join(folder, 'report'));
        expect(ends).toEqual(Object.fromEntries(specs.map((spec) => [spec, 'passed'])));
      } finally {
        await engine.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
    BLOCK_TIMEOUT_MS,
  );

  async function runSpecs(specs: SpecName[], kubeconfig: string, folder: string): Promise<Record<SpecName, string>> {
    mkdirSync(folder);
    const report = join(folder, 'junit.xml');
    const output = await outputOf(suite, folder, [
      `-kubeconfig=${kubeconfig}`,
      `-kubectl-path=${kubectl}`,
      '-provider=skeleton',
      '-allowed-not-ready-nodes=-1',
      '-num-nodes=0',
      '-ginkgo.no-color',
      `-ginkgo.timeout=${BLOCK_TIMEOUT_MS / 1000 - 30}s`,
      `-ginkgo.junit-report=${report}`,
      ...specs.map((spec) => `-ginkgo.focus=${focusOf(spec)}`),
    ]);
    if (!existsSync(report))
      throw new Error(`Cannot run upstream's specs: no report was written; the last words were: ${output.slice(-2000)}`);
    return readReport(readFileSync(report, 'utf8'));
  }
});

function outputOf(command: string, cwd: string, args: string[]): Promise<string> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-20_000));
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(output));
  });
}
