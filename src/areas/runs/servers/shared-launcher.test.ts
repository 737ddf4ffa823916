import { afterEach, expect, test, vi } from 'vitest';
import { FakeClock, settle } from '../../../lib/clock-fake.ts';
import { LANGUAGES } from './language.ts';
import type { Launch, Launcher } from './launcher.ts';
import { createSharedLauncher } from './shared-launcher.ts';

const clock = new FakeClock();
let launcher: Launcher;
afterEach(() => launcher.close());

/** @param argv of those that wait, instead of an interpreter */
async function open(warmWorkers: number, argv?: () => string[] | undefined): Promise<(env?: Record<string, string>) => Promise<boolean>> {
  const wrap = (own: string[], launch: Launch | undefined) => (launch === undefined && argv?.()) || own;
  launcher = createSharedLauncher({ language: LANGUAGES.bash, baseEnv: { PATH: process.env['PATH'] ?? '' }, warmWorkers, wrap, clock });
  await settle();
  return async (env = {}) => {
    const { warm, ended } = launcher.launch({ program: { code: 'true' }, workingDir: '/', env, network: true });
    await ended;
    return warm;
  };
}

test('a program that cannot use an interpreter that waits takes none', async () => {
  const isWarm = await open(2);
  expect(await isWarm({ 'NO-NAME-OF-BASH': '' })).toBe(false);
  expect(clock.pendingTimers).toBe(0);
  expect(await isWarm()).toBe(true);
  expect(clock.pendingTimers).toBe(1);
});

test('a program that finds no interpreter waiting starts cold, and others are started for those after it', async () => {
  let dies = true;
  const isWarm = await open(1, () => (dies ? ['true'] : undefined));
  await vi.waitFor(async () => expect(await isWarm()).toBe(false), 20_000);
  dies = false;
  await vi.waitFor(async () => expect(await isWarm()).toBe(true), 20_000);
});
