import { beforeEach, expect, test } from 'vitest';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { Client } from '../../../client/client.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Change, Informer } from '../../../runtime/informer/informer.ts';
import { TrafficReport } from './traffic-report.ts';
import { Traffic } from './traffic.ts';

let clock: FakeClock;
let traffic: Traffic;
let report: TrafficReport;
let writes: Record<string, { revision: number }>[];
let refusal: Error | undefined;
let change: (change: Change<PluginInstallation>) => void;

beforeEach(() => {
  clock = new FakeClock();
  traffic = new Traffic();
  writes = [];
  refusal = undefined;
  const apply = ({ data }: { data: Record<string, string> }) => {
    if (refusal) return Promise.reject(refusal);
    writes.push(JSON.parse(data['report.json']));
    return Promise.resolve();
  };
  const client = { resource: () => ({ apply, delete: () => Promise.resolve() }) } as unknown as Client;
  const installations = { list: () => [], onChange: (listener: typeof change) => (change = listener) };
  report = new TrafficReport({
    client,
    clock,
    log: silentLog,
    traffic,
    installations: installations as unknown as Informer<PluginInstallation>,
    instance: 'x',
  });
});

const follow = (revision: number, ...weights: number[]): void => {
  const routes = weights.map((weight, i) => ({ version: String(i + 1), workload: `w${i}`, weight }));
  const object = { metadata: { namespace: 'school', name: 'hello' }, status: { gateway: { revision, routes } } } as PluginInstallation;
  change({ type: 'modified', object, previous: object });
};
const serve = async (seconds: number): Promise<void> => {
  for (let i = 0; i < seconds * 10; i++) {
    traffic.begin('school/hello', '1').ended(false, 1);
    await clock.advance(100);
  }
};

test('a gateway that cannot tell of itself does not start', async () => {
  refusal = new Error('forbidden');
  await expect(report.start()).rejects.toThrow('Cannot tell controllers of this gateway: forbidden');
});

test('nothing is told while nothing moves', async () => {
  await report.start();
  follow(1, 100);
  await serve(20);
  expect(writes).toEqual([{}]);
});

test('new routes are told at once, and counts ever more slowly', async () => {
  await report.start();
  follow(2, 90, 10);
  await clock.advance(0);
  expect(writes.at(-1)).toMatchObject({ 'school/hello': { revision: 2 } });
  await serve(60);
  expect(writes.length).toBeGreaterThan(20);
  expect(writes.length).toBeLessThan(28);
});

test('the last request of a version that leaves is told soon', async () => {
  await report.start();
  const last = traffic.begin('school/hello', '1');
  follow(3, 0, 100);
  await serve(30);
  last.ended(false, 30_000);
  await clock.advance(301);
  expect(writes.at(-1)).toMatchObject({ 'school/hello': { versions: { '1': { inFlight: 0 } } } });
});

test('a report that could not be written is written later', async () => {
  await report.start();
  refusal = new Error('down');
  follow(2, 90, 10);
  await clock.advance(1_000);
  refusal = undefined;
  await clock.advance(300);
  expect(writes.at(-1)).toMatchObject({ 'school/hello': { revision: 2 } });
});
