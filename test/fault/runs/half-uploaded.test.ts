import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ArtifactStore } from '../../../src/api/kruntimes.io/v1alpha1/artifact-store.ts';
import { RunKind, type Run } from '../../../src/api/kruntimes.io/v1alpha1/run.ts';
import type { ArtifactStoreDriver } from '../../../src/areas/runs/artifacts/artifact-store.ts';
import { DEFAULT_ARTIFACT_LIMITS } from '../../../src/areas/runs/artifacts/collect-artifacts.ts';
import { openStore } from '../../../src/areas/runs/artifacts/open-store.ts';
import { startRuns } from '../../../src/areas/runs/start-runs.ts';
import { realClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { MetricsRegistry } from '../../../src/lib/metrics.ts';
import { BreakableRuns, type BreakablePod } from './breakable-runs.ts';

const CLAIM: ArtifactStore = { driver: 'filesystem', filesystem: { volumeClaimName: 'claim' } };
const NAMES = ['a', 'b', 'c'];

let world: BreakableRuns;
let pod: BreakablePod;
let area: { stop(): Promise<void> };
let root: string;
/** Called with the number of the upload, before it begins. */
let uploading: (index: number) => Promise<void> | void;

beforeEach(async () => {
  world = await BreakableRuns.start();
  root = join(world.folder, 'store');
  mkdirSync(root);
  uploading = () => {};
  const inner = openStore(CLAIM, { root, environment: {}, clock: realClock });
  let count = 0;
  const store: ArtifactStoreDriver = new Proxy(inner, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      if (name !== 'put') return member.bind(target);
      return async (...args: unknown[]) => {
        await uploading(count++);
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
  pod = await world.pod('pod', 2, { artifacts: { store, description: CLAIM, limits: DEFAULT_ARTIFACT_LIMITS } });
  const settings = { runtimedImage: 'example/runtimed', maintainerImage: 'example/maintainer' };
  area = startRuns({ client: world.client, clock: realClock, log: silentLog, metrics: new MetricsRegistry(), settings });
}, 60_000);
afterEach(async () => {
  await area?.stop();
  await world?.stop();
}, 60_000);

/** A Run that leaves three files. */
async function runWithFiles(): Promise<string> {
  const { metadata } = await world.create('files', 'ms=1500');
  const folder = join(world.folder, 'pod', metadata.uid!, 'artifacts');
  await expect.poll(() => existsSync(folder), { timeout: 20_000 }).toBe(true);
  for (const name of NAMES) writeFileSync(join(folder, name), `content of ${name}`);
  return join(root, 'namespaces/default/runs', metadata.uid!);
}

const isOver = ({ status }: Run) => status?.completionTime !== undefined;
async function ended(): Promise<Run> {
  await expect.poll(async () => isOver(await world.scripted.get('files')), { timeout: 30_000 }).toBe(true);
  return world.scripted.get('files');
}

it('a Run whose runtimed dies between two uploads succeeds with all its artifacts', async () => {
  let restarted: Promise<void> | undefined;
  uploading = (index) => {
    if (index !== 1) return undefined;
    void pod.killRuntimed();
    restarted = pod.startRuntimed();
    return new Promise(() => {});
  };
  const stored = await runWithFiles();
  const { status, metadata } = await ended();
  await restarted;
  expect(status).toMatchObject({ phase: 'Succeeded', attempt: 1 });
  expect(status?.artifactRefs?.map(({ name }) => name)).toEqual(NAMES);
  expect(metadata.finalizers).toEqual(['kruntimes.io/artifact-cleanup']);
  expect(readdirSync(stored).map((name) => readFileSync(join(stored, name), 'utf8'))).toEqual(NAMES.map((name) => `content of ${name}`));
}, 90_000);

it('a Run that is cancelled between two uploads leaves none', async () => {
  uploading = async (index) => {
    if (index !== 1) return;
    await world.change('files', { spec: { cancelRequested: true } });
    await new Promise((resolve) => setTimeout(resolve, 300));
  };
  const stored = await runWithFiles();
  expect((await ended()).status).toMatchObject({ phase: 'Cancelled' });
  await expect.poll(() => (existsSync(stored) ? readdirSync(stored) : [])).toEqual([]);
}, 90_000);

it('a Run that is deleted between two uploads stays until its store is cleaned up', async () => {
  uploading = async (index) => {
    if (index === 1) await world.client.resource(RunKind, 'default').delete('files');
  };
  await runWithFiles();
  await expect.poll(async () => (await world.scripted.get('files')).metadata.deletionTimestamp, { timeout: 20_000 }).toBeDefined();
  expect((await world.scripted.get('files')).metadata.finalizers).toEqual(['kruntimes.io/artifact-cleanup']);
  await expect.poll(() => world.programs.running).toBe(0);
}, 90_000);
