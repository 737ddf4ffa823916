import { expect, test, vi } from 'vitest';
import type { Json, KubeObject } from '../../../kube/object.ts';
import { ObjectsInMemory } from '../admission/testing/objects-in-memory.ts';
import { API_SERVICES } from '../aggregator/api-service.ts';
import { MetricsRegistration } from './registration.ts';

const NODES = { group: '', resource: 'nodes' };
const ROLES = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };
const NAME = 'v1beta1.metrics.k8s.io';

function node(port: number | undefined): KubeObject {
  const status: Json = port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, status };
}

function start(objects = new ObjectsInMemory()) {
  const errors: unknown[] = [];
  const heard: number[] = [];
  const registration = new MetricsRegistration(
    objects,
    (error) => errors.push(error),
    (nodes) => heard.push(nodes.length),
  );
  registration.start();
  return { objects, registration, errors, heard, found: () => objects.get(API_SERVICES, '', NAME) };
}

test('it is served while a node has a kubelet', async () => {
  const { objects, registration, found, errors, heard } = start();
  objects.put(NODES, node(undefined));
  await registration.stop();
  expect([found(), registration.versions()]).toEqual([undefined, []]);
  registration.start();
  objects.put(NODES, node(10_250));
  await vi.waitFor(() => expect(found()).toBeDefined());
  expect(registration.versions()).toMatchObject([{ group: 'metrics.k8s.io', version: 'v1beta1', current: true }]);
  expect(registration.versions()).toBe(registration.versions());
  expect(objects.get(ROLES, '', 'system:aggregated-metrics-reader')).toMatchObject({
    metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
  });
  await objects.delete(NODES, '', 'a');
  await vi.waitFor(() => expect(found()).toBeUndefined());
  expect(registration.versions()).toEqual([]);
  expect([errors, heard]).toEqual([[], [1]]);
});

test('who installs a metrics server takes it over, and gives it back by removing it', async () => {
  const { objects, registration, found } = start();
  objects.put(NODES, node(10_250));
  await vi.waitFor(() => expect(found()).toBeDefined());
  const theirs = structuredClone(found()!);
  theirs.spec.service = { namespace: 'kube-system', name: 'metrics-server' };
  objects.put(API_SERVICES, theirs);
  expect(registration.versions()).toEqual([]);
  await objects.delete(NODES, '', 'a');
  await registration.stop();
  expect(found()?.spec.service).toBeDefined();
  registration.start();
  objects.put(NODES, node(10_250));
  await objects.delete(API_SERVICES, '', NAME);
  await vi.waitFor(() => expect(found()).toMatchObject({ metadata: { labels: { 'tenantry.dev/served-by': 'engine' } } }));
  expect(registration.versions()).toHaveLength(1);
});
