import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../lib/clock-fake.ts';
import { execCredentials, parseExecCredential } from './exec-credentials.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exec-'));
});
afterEach(() => rm(folder, { recursive: true }));

const V1 = 'client.authentication.k8s.io/v1';

/** A plugin that counts its runs in a file and puts the count into its token. */
async function plugin(body: string): Promise<string> {
  const path = join(folder, 'plugin');
  await writeFile(
    path,
    `#!/bin/sh\ncount=$(($(cat "${folder}/count" 2>/dev/null || echo 0) + 1))\necho $count > "${folder}/count"\n${body}\n`,
  );
  await chmod(path, 0o755);
  return path;
}

test('exec credentials are kept until they expire or are refused, and one run serves all that wait', async () => {
  const clock = new FakeClock('2026-01-01T00:00:00Z');
  const command = await plugin(
    `echo '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"t'$count'","expirationTimestamp":"2026-01-01T00:10:00Z"}}'`,
  );
  const credentials = execCredentials({ apiVersion: V1, command }, { cluster: {}, clock, env: process.env });
  const token = async (): Promise<string> => (await credentials.headers()).Authorization;
  expect(await Promise.all([token(), token()])).toEqual(['Bearer t1', 'Bearer t1']);
  expect(await token()).toBe('Bearer t1');
  expect(credentials.refresh()).toBe(true);
  expect(await token()).toBe('Bearer t2');
  await clock.advance(600_000);
  expect(await token()).toBe('Bearer t3');
});

test('the plugin gets its arguments, variables and the cluster', async () => {
  const command = await plugin(
    `echo "$1 $EXTRA $KUBERNETES_EXEC_INFO" > "${folder}/seen"; echo '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"clientCertificateData":"C","clientKeyData":"K"}}'`,
  );
  const config = { apiVersion: V1, command, args: ['hello'], env: [{ name: 'EXTRA', value: 'more' }], provideClusterInfo: true };
  const credentials = execCredentials(config, { cluster: { server: 'https://x' }, clock: new FakeClock(), env: process.env });
  expect(await credentials.certificate()).toEqual({ cert: 'C', key: 'K' });
  expect(await credentials.headers()).toEqual({});
  const seen = await readFile(join(folder, 'seen'), 'utf8');
  expect(seen).toMatch(/^hello more /);
  expect(JSON.parse(seen.slice('hello more '.length))).toEqual({
    apiVersion: V1,
    kind: 'ExecCredential',
    spec: { interactive: false, cluster: { server: 'https://x' } },
  });
});

test('a failing or missing plugin says why', async () => {
  const context = { cluster: {}, clock: new FakeClock(), env: process.env };
  const failing = execCredentials({ apiVersion: V1, command: await plugin('echo "please log in" >&2; exit 3') }, context);
  await expect(failing.headers()).rejects.toThrow(/please log in/);
  const missing = execCredentials({ apiVersion: V1, command: 'no-such-plugin', installHint: 'get it from example.com' }, context);
  await expect(missing.headers()).rejects.toThrow('Cannot get credentials from "no-such-plugin": not found; get it from example.com');
  expect(() => execCredentials({ apiVersion: 'v9', command: 'x' }, context)).toThrow('apiVersion "v9" is not supported');
});

test.each([
  ['text that is not JSON', 'hello', 'it did not print JSON'],
  ['another kind', '{"kind":"Status"}', 'it did not print an ExecCredential'],
  ['another version', '{"kind":"ExecCredential","apiVersion":"v9"}', 'it answered in v9'],
  ['an empty status', `{"kind":"ExecCredential","apiVersion":"${V1}","status":{}}`, 'neither a token nor a certificate'],
  ['a certificate without key', `{"kind":"ExecCredential","apiVersion":"${V1}","status":{"clientCertificateData":"c"}}`, 'needs its key'],
  ['a bad time', `{"kind":"ExecCredential","apiVersion":"${V1}","status":{"token":"t","expirationTimestamp":"soon"}}`, 'is not a time'],
])('parseExecCredential refuses %s', (_name, output, message) => {
  expect(() => parseExecCredential(output, { command: 'p', apiVersion: V1 })).toThrow(message);
});
