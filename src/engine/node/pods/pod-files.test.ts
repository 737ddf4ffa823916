import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PodFilesOnDisk } from './pod-files.ts';
import { UID } from './testing/a-pod.ts';

const pod = { namespace: 'shop', name: 'web', uid: UID };
let root: string;
let files: PodFilesOnDisk;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tenantry-files-'));
  files = new PodFilesOnDisk(root, 'boot-1');
});
afterEach(() => rmSync(root, { recursive: true }));

function log(container: string, file: string): void {
  const folder = join(root, 'logs', `shop_web_${UID}`, container);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), '');
}

test('attempts are found by the logs they left, the newest first', async () => {
  for (const file of ['0.log', '10.log', '9.log', '9.log.20260101-000000', 'other']) log('c', file);
  expect(await files.attempts(pod, 'c')).toEqual([10, 9, 0]);
  expect(await files.attempts(pod, 'never-ran')).toEqual([]);
});

test('the logs of one attempt go with what was moved away from them', async () => {
  for (const file of ['1.log', '1.log.20260101-000000', '2.log', '11.log']) log('c', file);
  await files.removeLogs(pod, 'c', 1);
  expect(await files.attempts(pod, 'c')).toEqual([11, 2]);
});

test('logs of Pods that are gone are removed, others are not', async () => {
  log('c', '0.log');
  mkdirSync(join(root, 'logs', 'shop_old_gone-uid'), { recursive: true });
  await files.removeForeignLogs(new Set([UID]));
  expect(existsSync(join(root, 'logs', 'shop_old_gone-uid'))).toBe(false);
  expect(await files.attempts(pod, 'c')).toEqual([0]);
});

test('a sandbox lives as long as the machine runs', async () => {
  expect(await files.hasSandbox(UID)).toBe(false);
  await files.markSandbox(UID);
  expect(await files.hasSandbox(UID)).toBe(true);
  expect(await new PodFilesOnDisk(root, 'boot-2').hasSandbox(UID)).toBe(false);
  expect(await files.known()).toEqual([UID]);
});

test('whoever the container runs as can leave a message; the end of a long one is kept', async () => {
  const { source } = await files.terminationMount(UID, 'c', 0, '/dev/termination-log');
  expect(statSync(source).mode & 0o777).toBe(0o666);
  expect(await files.terminationMessage(UID, 'c', 0)).toBe('');
  writeFileSync(source, `${'x'.repeat(5000)}the end`);
  const message = await files.terminationMessage(UID, 'c', 0);
  expect(message).toHaveLength(4096);
  expect(message.endsWith('the end')).toBe(true);
  expect(await files.terminationMessage(UID, 'c', 7)).toBe('');
});

test('files for names are mounted unless the container brings its own', async () => {
  await files.writeNetworkFiles(UID, { hosts: 'h', resolvConf: 'r', hostname: 'web' });
  const mounts = files.networkMounts(UID, new Set(['/etc/hosts']));
  expect(mounts.map(({ target }) => target)).toEqual(['/etc/resolv.conf', '/etc/hostname']);
  expect(readFileSync(mounts[1].source, 'utf8')).toBe('web\n');
});

test('what is not ours is left when a Pod goes', async () => {
  await files.markSandbox(UID);
  await files.terminationMount(UID, 'c', 0, '/x');
  const volume = join(root, 'pods', UID, 'volumes', 'still-mounted');
  mkdirSync(volume, { recursive: true });
  await files.remove(UID);
  expect(existsSync(volume)).toBe(true);
  rmSync(join(root, 'pods', UID, 'volumes'), { recursive: true });
  await files.remove(UID);
  expect(await files.known()).toEqual([]);
});
