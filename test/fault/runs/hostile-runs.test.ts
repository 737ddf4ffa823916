import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSpec } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import { findCondition } from '../../../src/kube/conditions.ts';
import { RunsWorld } from '../../integration/runs/runs-world.ts';

const trap = mkdtempSync(join(tmpdir(), 'tenantry-hostile-'));
const touched = join(trap, 'touched');

/** What a Run does, and why it fails. Nothing outside of it is changed. */
const HOSTILE: [string, string, Partial<RunSpec>, string, string][] = [
  ['outputs of a gigabyte', 'truncate -s 1G "$KRUNTIME_OUTPUTS"', {}, 'OutputsTooLarge', 'more than 65536 bytes'],
  ['outputs that are no text', 'printf "a=\\377\\376\\n" > "$KRUNTIME_OUTPUTS"', {}, 'OutputsInvalid', 'not UTF-8'],
  ['100,000 outputs', 'for i in {1..100000}; do echo "k$i=v"; done > "$KRUNTIME_OUTPUTS"', {}, 'OutputsTooLarge', 'more than 65536 bytes'],
  ['65 outputs', 'for i in {1..65}; do echo "k$i=v"; done > "$KRUNTIME_OUTPUTS"', {}, 'OutputsTooLarge', 'more than 64 outputs'],
  ['outputs that lead elsewhere', 'ln -s /etc/passwd "$KRUNTIME_OUTPUTS"', {}, 'OutputsInvalid', 'ELOOP'],
  ['outputs that never end', 'mkfifo "$KRUNTIME_OUTPUTS"', {}, 'OutputsInvalid', 'not a regular file'],
  ...[
    'ext::sh -c touch% '.concat(touched),
    `file://${trap}`,
    `--upload-pack=touch ${touched}`,
    `ssh://-oProxyCommand=touch%20${touched}/x`,
  ].map((repoURL): [string, string, Partial<RunSpec>, string, string] => [
    `a repository at ${repoURL.slice(0, 16)}`,
    'true',
    { source: { repoURL } },
    'PrepareSource',
    'prepare source: Cannot ',
  ]),
  [
    'a commit that is an option',
    'true',
    { source: { repoURL: 'https://127.0.0.1:1/x.git', commitSHA: `--upload-pack=touch ${touched}` } },
    'PrepareSource',
    'prepare source: Cannot ',
  ],
];

describe('a Run with bad intentions', () => {
  let world: RunsWorld;
  beforeAll(async () => {
    world = await RunsWorld.start();
    await world.pod('pod-1', 8);
  }, 60_000);
  afterAll(async () => {
    await world?.stop();
    rmSync(trap, { recursive: true, force: true });
  }, 60_000);

  it.each(HOSTILE.map((hostile, index) => [...hostile, index] as const))(
    'with %s fails, once and for all',
    async (_name, script, spec, reason, message, index) => {
      await world.create(`hostile-${index}`, script, { retryPolicy: { maxAttempts: 1 }, ...spec });
      const { status } = await world.ended(`hostile-${index}`, 60_000);
      expect(status).toMatchObject({ phase: 'Failed', message: expect.stringContaining(message) });
      expect(findCondition(status?.conditions, 'Completed')?.reason).toBe(reason);
      expect(existsSync(touched)).toBe(false);
    },
    90_000,
  );

  it('whose entrypoint leads out of its folder does not run', async () => {
    await world.create('climbs', '', { source: { inline: 'echo inline' }, mode: { task: { entrypoint: '../../../../bin/ls' } } });
    const { status } = await world.ended('climbs', 60_000);
    expect(status?.log?.text ?? '').not.toContain('bin');
  });

  it('that writes without end keeps the end of what it wrote', async () => {
    await world.create('floods', 'head -c 20M /dev/zero | tr "\\0" x');
    const { status } = await world.ended('floods', 90_000);
    expect(status).toMatchObject({ phase: 'Succeeded', log: { truncated: true } });
    expect(status!.log!.text.length).toBeLessThanOrEqual(8 << 10);
  }, 120_000);

  it('takes with it what it left running', async () => {
    await world.create('forks', 'sleep 543210.5 & nohup sleep 543210.5 > /dev/null 2>&1 & (sleep 543210.5 &); exit 0');
    const { status } = await world.ended('forks', 60_000);
    expect(status?.phase).toBe('Succeeded');
    const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid) === 'sleep 543210.5 ');
    expect(left).toEqual([]);
  });
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
