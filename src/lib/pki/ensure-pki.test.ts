import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensurePki } from './ensure-pki.ts';
import { kubeconfigText } from './kubeconfig.ts';

const START = Date.parse('2026-03-01T00:00:00Z');
const DAY = 24 * 3600 * 1000;
const at = (now: number) => ({ clock: { now: () => now } });

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pki-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

describe('ensurePki', () => {
  it('makes everything on the first start and nothing on the second', async () => {
    const first = await ensurePki(directory, at(START));
    const files = await readdir(directory);
    const times = await Promise.all(files.map(async (file) => (await stat(join(directory, file))).mtimeMs));
    const second = await ensurePki(directory, at(START + DAY));
    expect(await Promise.all(files.map(async (file) => (await stat(join(directory, file))).mtimeMs))).toEqual(times);
    expect(second.serving.certificatePem).toBe(first.serving.certificatePem);
    expect(second.encryptionKeys).toEqual(first.encryptionKeys);
    expect(second.serviceAccountKeys.publicKey.equals(first.serviceAccountKeys.publicKey)).toBe(true);
  });

  it('keeps every key to its owner', async () => {
    await ensurePki(directory, at(START));
    const files = await readdir(directory);
    const keys = files.filter((file) => file.endsWith('.key'));
    expect(keys.length).toBe(8);
    for (const key of keys) expect((await stat(join(directory, key))).mode & 0o777, key).toBe(0o600);
    expect(files.filter((file) => file.endsWith('.tmp'))).toEqual([]);
  });

  it('issues a new serving certificate from the same authority, when a name is added', async () => {
    const first = await ensurePki(directory, at(START));
    const second = await ensurePki(directory, { ...at(START), names: ['api.example'], addresses: ['192.0.2.1'] });
    expect(second.authority.certificatePem).toBe(first.authority.certificatePem);
    expect(second.admin.certificatePem).toBe(first.admin.certificatePem);
    expect(second.serving.certificate.checkHost('api.example')).toBe('api.example');
    expect(second.serving.certificate.checkIP('192.0.2.1')).toBe('192.0.2.1');
    expect(second.serving.certificate.checkHost('kubernetes.default.svc')).toBe('kubernetes.default.svc');
  });

  it('renews leaves that are about to expire', async () => {
    const first = await ensurePki(directory, at(START));
    const later = await ensurePki(directory, at(START + 300 * DAY));
    expect(later.serving.certificatePem).not.toBe(first.serving.certificatePem);
    expect(later.admin.certificatePem).not.toBe(first.admin.certificatePem);
    expect(Date.parse(later.serving.certificate.validTo)).toBeGreaterThan(START + 600 * DAY);
  });

  it('makes a leaf again, when its files are torn or do not belong together', async () => {
    const first = await ensurePki(directory, at(START));
    await writeFile(join(directory, 'apiserver.crt'), first.serving.certificatePem.slice(0, 100));
    await writeFile(join(directory, 'admin.key'), first.serving.keyPem);
    const second = await ensurePki(directory, at(START));
    expect(second.serving.certificate.checkPrivateKey(second.serving.key)).toBe(true);
    expect(second.admin.certificate.checkPrivateKey(second.admin.key)).toBe(true);
  });

  it('finishes an authority of which only the key was written', async () => {
    const first = await ensurePki(directory, at(START));
    await rm(join(directory, 'ca.crt'));
    const second = await ensurePki(directory, at(START));
    expect(second.authority.keyPem).toBe(first.authority.keyPem);
    expect(second.serving.certificate.verify(second.authority.certificate.publicKey)).toBe(true);
  });

  it('refuses and says what to do, when the key of the authority is gone', async () => {
    await ensurePki(directory, at(START));
    await rm(join(directory, 'ca.key'));
    await expect(ensurePki(directory, at(START))).rejects.toThrow(/its key is missing; restore ca\.key from a backup/);
  });

  it('refuses a broken file of encryption keys rather than making a new key', async () => {
    await ensurePki(directory, at(START));
    await writeFile(join(directory, 'encryption.key'), 'k1 short\n');
    await expect(ensurePki(directory, at(START))).rejects.toThrow(/restore the file from a backup/);
  });

  it('reads several encryption keys, the first one to encrypt with', async () => {
    await ensurePki(directory, at(START));
    const old = await readFile(join(directory, 'encryption.key'), 'utf8');
    await writeFile(join(directory, 'encryption.key'), `new ${Buffer.alloc(32, 7).toString('base64')}\n${old}`);
    const { encryptionKeys } = await ensurePki(directory, at(START));
    expect(encryptionKeys.map(({ id }) => id)).toEqual(['new', old.split(' ')[0]]);
  });

  it('serves a mutual TLS handshake', async () => {
    const pki = await ensurePki(directory, at(Date.now()));
    const seen = new Promise<string>((resolve) => {
      const server = createServer(
        { cert: pki.serving.certificatePem, key: pki.serving.keyPem, ca: pki.authority.certificatePem, requestCert: true },
        (socket: TLSSocket) => {
          const { subject } = socket.getPeerCertificate();
          resolve([socket.authorized, subject.CN, subject.O].join(' '));
          socket.end();
          server.close();
        },
      );
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as { port: number };
        connect({
          port,
          host: '127.0.0.1',
          ca: pki.authority.certificatePem,
          cert: pki.admin.certificatePem,
          key: pki.admin.keyPem,
        }).resume();
      });
    });
    expect(await seen).toBe('true kubernetes-admin system:masters');
  });
});

describe('kubeconfigText', () => {
  it('embeds what kubectl needs', () => {
    expect(
      kubeconfigText({ server: 'https://127.0.0.1:6443', authorityPem: 'CA', credentials: { certificatePem: 'CERT', keyPem: 'KEY' } }),
    ).toBe(
      [
        'apiVersion: v1',
        'kind: Config',
        'clusters:',
        '- name: "tenantry"',
        '  cluster:',
        '    server: "https://127.0.0.1:6443"',
        '    certificate-authority-data: Q0E=',
        'users:',
        '- name: "tenantry-admin"',
        '  user:',
        '    client-certificate-data: Q0VSVA==',
        '    client-key-data: S0VZ',
        'contexts:',
        '- name: "tenantry"',
        '  context:',
        '    cluster: "tenantry"',
        '    user: "tenantry-admin"',
        'current-context: "tenantry"',
        '',
      ].join('\n'),
    );
  });
});
