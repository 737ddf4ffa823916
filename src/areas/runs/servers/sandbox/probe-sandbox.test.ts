import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../lib/clock-fake.ts';
import { realClock } from '../../../../lib/clock.ts';
import { startChild } from '../children/start-child.ts';
import { findSandboxTools, hasAllUsers, isPrivileged, tryOut } from './probe-sandbox.ts';
import type { Sandbox } from './start-sandbox.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-probe-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('isPrivileged', () => {
  it.each([
    ['root of a machine', 'CapEff:\t000001ffffffffff', true],
    ['the rights of a Runtime Server', 'CapEff:\t00000000002011eb', true],
    ['root without the right to mount', 'CapEff:\t00000000a80425fb', false],
    ['a plain user', 'CapEff:\t0000000000000000', false],
    ['nothing known', '', false],
  ])('%s', (_name, status, expected) => expect(isPrivileged(`Name:\tnode\n${status}\n`)).toBe(expected));
});

describe('hasAllUsers', () => {
  it.each([
    ['a machine', '         0          0 4294967295\n', true],
    ['a container with some', '         0     100000      65536\n', false],
    ['nothing known', '', false],
  ])('%s', (_name, map, expected) => expect(hasAllUsers(map)).toBe(expected));
});

describe('findSandboxTools', () => {
  it('says what is missing', async () => {
    expect(await findSandboxTools(folder)).toEqual({ missing: 'bubblewrap is not installed; install it (bwrap)' });
    writeFileSync(join(folder, 'bwrap'), '', { mode: 0o755 });
    const found = await findSandboxTools(folder);
    // Only who has rights needs a way to give them up.
    expect([{ bwrap: join(folder, 'bwrap') }, { missing: 'setpriv is not installed; install util-linux' }]).toContainEqual(found);
  });
});

/** What is tried out is the program here: there is nothing around it. */
function aSandbox(argv: string[]): Sandbox {
  const child = startChild(argv, { cwd: '/', env: {}, listens: true });
  return { child, emptied: Promise.resolve() };
}

describe('tryOut', () => {
  it.each([
    ['a command that works', 'exit 0', undefined],
    ['one that complains', 'echo why >&2; echo more >&2; exit 1', 'why'],
    ['one that fails in silence', 'exit 3', 'exit status 3'],
  ])('%s', async (_name, script, expected) => expect(await tryOut(aSandbox(['/bin/sh', '-c', script]), realClock)).toBe(expected));

  it('one that is not there', async () => {
    await expect(tryOut(aSandbox([join(folder, 'nothing')]), realClock)).rejects.toThrow('ENOENT');
  });

  it('one that never ends is ended', async () => {
    const clock = new FakeClock();
    const result = tryOut(aSandbox(['/bin/sh', '-c', 'exec sleep 60']), clock);
    await clock.advance(60_000);
    expect(await result).toContain('exit status');
  });
});
