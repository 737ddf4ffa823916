import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Namespace, PersistentVolumeClaim, VolumeAttributesClass } from '../../../src/client/kinds.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { startInMemoryEngine, type InMemoryEngine } from './engine-in-memory.ts';

const WAIT = { timeout: 5000, interval: 20 };
let engine: InMemoryEngine;
beforeAll(async () => {
  engine = await startInMemoryEngine();
});
afterAll(() => engine.stop());

const classes = () => engine.client.resource<KubeObject>(VolumeAttributesClass);
const gone = (name: string) => vi.waitFor(() => expect(classes().get(name)).rejects.toMatchObject({ code: 404 }), WAIT);

test('a class that nobody uses goes when it is deleted', async () => {
  await classes().create({ metadata: { name: 'idle' }, driverName: 'example.org', parameters: { iops: '1' } });
  await classes().delete('idle');
  await gone('idle');
});

test('a class that a claim wants stays until the claim has gone', async () => {
  await engine.client.resource(Namespace).create({ metadata: { name: 'x' } });
  await classes().create({ metadata: { name: 'used' }, driverName: 'example.org', parameters: { iops: '1' } });
  const claims = engine.client.resource<KubeObject>(PersistentVolumeClaim, 'x');
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeAttributesClassName: 'used' };
  await claims.create({ metadata: { name: 'c' }, spec });
  await classes().delete('used');
  await classes().create({ metadata: { name: 'after' }, driverName: 'example.org', parameters: { iops: '1' } });
  await classes().delete('after');
  await gone('after');
  expect((await classes().get('used')).metadata.deletionTimestamp).toBeDefined();
  await claims.delete('c');
  await gone('used');
});
