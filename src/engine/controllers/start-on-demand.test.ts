import { expect, test } from 'vitest';
import type { DiscoveredResource } from '../../client/discovery.ts';
import { settle } from '../../lib/clock-fake.ts';
import { silentLog } from '../../lib/log.ts';
import type { EventRecorder } from '../../runtime/event-recorder.ts';
import type { Environment } from './environment.ts';
import { ON_DEMAND_CONTROLLERS } from './on-demand-controllers.ts';
import type { MonitorListener, ResourceMonitors } from './resource-monitors/resource-monitors.ts';
import { startOnDemand, type OnDemand } from './start-on-demand.ts';

function setUp(list: OnDemand[]) {
  let listener: MonitorListener = {};
  const monitors = { listen: (added: MonitorListener) => (listener = added) } as unknown as ResourceMonitors;
  const environment = { log: silentLog, events: 'from the manager' } as unknown as Environment;
  const running = startOnDemand(environment, monitors, list, (controller) => `from ${controller}` as unknown as EventRecorder);
  const observe = (plural: string, name = 'a', namespace = 'default'): void =>
    listener.observed?.({ group: '', plural } as DiscoveredResource, { apiVersion: 'v1', kind: '', metadata: { name, namespace } });
  return { running, observe };
}

test('it starts with the first object that calls for it, once, and stops what was started', async () => {
  const log: string[] = [];
  const { running, observe } = setUp([
    {
      resources: ['/nodes', '/pods'],
      calls: ({ metadata }) => metadata.name !== 'ignored',
      load: async () => () => {
        log.push('started');
        return { stop: async () => void log.push('stopped') };
      },
    },
  ]);
  observe('services');
  observe('nodes', 'ignored');
  await settle();
  expect(log).toEqual([]);
  observe('nodes');
  observe('pods');
  await settle();
  expect(log).toEqual(['started']);
  await running.stop();
  observe('pods');
  expect(log).toEqual(['started', 'stopped']);
});

test('its events carry the name that it has in Kubernetes', async () => {
  const names: unknown[] = [];
  const load = async () => (environment: Environment) => {
    names.push(environment.events);
    return { stop: async () => {} };
  };
  const { observe } = setUp([
    { resources: ['/nodes'], controller: 'node-controller', load },
    { resources: ['/nodes'], load },
  ]);
  observe('nodes');
  await settle();
  expect(names).toEqual(['from node-controller', 'from the manager']);
});

test('what cannot be loaded stops nobody', async () => {
  const { running, observe } = setUp([{ resources: ['/nodes'], load: () => Promise.reject(new Error('no such file')) }]);
  observe('nodes');
  await expect(running.stop()).resolves.toBeUndefined();
});

test('an engine at rest calls for nothing: its own Service is not looked after', () => {
  const [slices] = ON_DEMAND_CONTROLLERS;
  const service = (name: string) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' } });
  expect([slices.calls?.(service('kubernetes')), slices.calls?.(service('web'))]).toEqual([false, true]);
});
