import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedTarget, type EmbeddedTarget } from '../../support/embedded-target.ts';

let target: EmbeddedTarget;
beforeAll(async () => {
  target = await startEmbeddedTarget();
});
afterAll(() => target.close());

/** A request without any credentials of ours. */
function stranger(path: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const ca = readFileSync(join(target.data, 'pki', 'ca.crt'));
    const outgoing = httpsRequest(new URL(path, target.url), { ca, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

describe('a stranger', () => {
  it.each(['/healthz', '/livez', '/readyz', '/version'])('may read %s', async (path) => {
    expect(await stranger(path)).toBe(200);
  });

  it.each([
    '/api',
    '/apis',
    '/api/v1',
    '/openapi/v2',
    '/openapi/v3',
    '/metrics',
    '/',
    '/tenantry/backup',
    '/api/v1/namespaces',
    '/api/v1/namespaces/default',
    '/api/v1/secrets',
    '/api/v1/secrets?watch=1',
    '/api/v1/watch/secrets',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/api/v1/namespaces/default/pods/x/../../../../secrets',
  ])('may not read %s', async (path) => {
    expect(await stranger(path)).toBe(403);
  });

  it.each<{ name: string; headers: Record<string, string>; status: number }>([
    { name: 'a token that nobody issued', headers: { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.' }, status: 401 },
    { name: 'headers of a front proxy', headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }, status: 403 },
    { name: 'impersonation', headers: { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' }, status: 403 },
  ])('gets nowhere with $name', async ({ headers, status }) => {
    expect(await stranger('/api/v1/namespaces', headers)).toBe(status);
  });
});

describe('the port', () => {
  it('speaks TLS only', async () => {
    const { hostname, port } = new URL(target.url);
    const answered = new Promise((resolve, reject) => {
      const outgoing = httpRequest({ hostname, port, path: '/version' }, resolve);
      outgoing.on('error', reject);
      outgoing.end();
    });
    await expect(answered).rejects.toThrow();
  });

  it('refuses TLS before 1.2', async () => {
    const { hostname, port } = new URL(target.url);
    const connected = new Promise((resolve, reject) => {
      const socket = connectTls({
        host: hostname,
        port: Number(port),
        rejectUnauthorized: false,
        maxVersion: 'TLSv1.1',
        minVersion: 'TLSv1',
      });
      socket.once('secureConnect', resolve);
      socket.once('error', reject);
    });
    await expect(connected).rejects.toThrow();
  });

  it('is on loopback', () => {
    expect(new URL(target.url).hostname).toBe('127.0.0.1');
    const port = Number(new URL(target.url).port).toString(16).toUpperCase().padStart(4, '0');
    const listening = readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`:${port} `) && / 0A /.test(line))
      .map((line) => line.trim().split(/\s+/)[1]);
    expect(listening).toEqual([`0100007F:${port}`]);
  });
});

describe('the data directory', () => {
  it('keeps keys and the kubeconfig to their owner', () => {
    const secret = filesBelow(target.data).filter((path) => /\.key$|kubeconfig$|encryption/.test(path));
    expect(secret.length).toBeGreaterThan(4);
    for (const path of secret) expect((statSync(path).mode & 0o777).toString(8), path).toBe('600');
  });

  it('holds no Secret in plain text, in no version of it', async () => {
    const plain = 'correct-horse-battery-staple';
    const path = '/api/v1/namespaces/default/secrets';
    await target.request('POST', path, { metadata: { name: 'hidden' }, stringData: { password: plain } });
    await target.request(
      'PATCH',
      `${path}/hidden`,
      { stringData: { second: `${plain}-2` } },
      { contentType: 'application/merge-patch+json' },
    );
    await target.request('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'open' },
      data: { text: 'this-one-is-no-secret' },
    });
    await target.request('DELETE', `${path}/hidden`);
    const forms = [plain, Buffer.from(plain).toString('base64').slice(0, -4), Buffer.from(`${plain}-2`).toString('base64').slice(0, -4)];
    const files = filesBelow(target.data).map((file) => ({ file, bytes: readFileSync(file) }));
    expect(files.some(({ bytes }) => bytes.includes('this-one-is-no-secret'))).toBe(true);
    for (const { file, bytes } of files) for (const form of forms) expect(bytes.includes(form), `${file} contains the value`).toBe(false);
  });
});
