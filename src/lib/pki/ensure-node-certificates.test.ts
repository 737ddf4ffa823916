import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ensureNodeCertificates } from './ensure-node-certificates.ts';
import { ensurePki } from './ensure-pki.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenantry-node-pki-'));
afterAll(() => rmSync(folder, { recursive: true }));
const clock = { now: () => Date.now() };

test('a node gets a name to call by and one to be called by, and keeps them', async () => {
  const { authority } = await ensurePki(folder, { clock });
  const options = { name: 'box', addresses: ['192.0.2.7'], authority, clock };
  const first = await ensureNodeCertificates(folder, options);
  expect(first.client.certificate.subject).toBe('O=system:nodes\nCN=system:node:box');
  expect(first.serving.certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(first.serving.certificate.checkIP('192.0.2.7')).toBe('192.0.2.7');
  expect(first.serving.certificate.checkHost('box')).toBe('box');
  expect(first.serving.certificate.verify(authority.certificate.publicKey)).toBe(true);
  const again = await ensureNodeCertificates(folder, options);
  expect(again.client.certificatePem).toBe(first.client.certificatePem);
  const renamed = await ensureNodeCertificates(folder, { ...options, name: 'other' });
  expect(renamed.client.certificate.subject).toContain('CN=system:node:other');
});
