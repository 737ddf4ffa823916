import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { containerPlaces, isContainerId, parseContainerId } from './container-places.ts';

test('parseContainerId takes a container’s name apart', () => {
  expect(parseContainerId('8d0e-11.my-app.12')).toEqual({ podUid: '8d0e-11', name: 'my-app', attempt: 12 });
});

test.each(['', 'a.b', 'a.b.c', '../x.y.0', 'a/b.c.0', 'a.b.0/..', '.b.0'])('isContainerId does not hold for %j', (id) => {
  expect(isContainerId(id)).toBe(false);
  expect(() => parseContainerId(id)).toThrow('Cannot take');
});

test('containerPlaces puts a container below its Pod in the kernel, and below the folder on disk', () => {
  const place = containerPlaces('/data/oci').container('u1.web.3');
  expect(place.folder).toBe('/data/oci/containers/u1.web.3');
  expect(place.cgroup).toMatch(/^\/tenantry-[0-9a-f]{12}\/podu1\/web\.3$/);
});

test('containerPlaces keeps two data directories apart in the kernel', () => {
  expect(containerPlaces('/a').cgroup).not.toBe(containerPlaces('/b').cgroup);
});

test('consoleSocket is short enough for the kernel, however deep the data directory is', async () => {
  const deep = join(mkdtempSync(join(tmpdir(), 'places-')), 'x'.repeat(120));
  const socket = await containerPlaces(deep).consoleSocket('u1.web.0');
  expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(107);
  expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
  rmSync(dirname(socket), { recursive: true });
  rmSync(dirname(deep), { recursive: true });
});
