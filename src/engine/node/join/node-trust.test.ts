import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../../client/client.ts';
import { failure } from '../../../kube/status.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { issueCertificate } from '../../../lib/pki/certificate.ts';
import { authorityTemplate, ensureAuthority } from '../../../lib/pki/ensure-pki.ts';
import { generateKeys, KeyFiles, type CertificateFile } from '../../../lib/pki/key-files.ts';
import { isOfFirst, NodeTrust } from './node-trust.ts';

const NOW = '2030-01-01T00:00:00Z';
let folder: string;
let old: CertificateFile;
let young: CertificateFile;
let told: string | Error;
let changes: number;
let warnings: string[];
const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenantry-trust-'));
  const files = new KeyFiles(folder);
  [old, young] = await Promise.all(['old', 'young'].map((name) => ensureAuthority(files, name, name, Date.parse(NOW))));
  changes = 0;
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function open(given: string, clock = new FakeClock(NOW)): Promise<NodeTrust> {
  const get = () => (told instanceof Error ? Promise.reject(told) : Promise.resolve({ data: { 'ca.crt': told } }));
  const client = () => ({ resource: () => ({ get }) }) as unknown as Client;
  const trust = await NodeTrust.open({ path: join(folder, 'authorities.json'), given, client, clock, log });
  trust.onChange(() => changes++);
  return trust;
}

describe('NodeTrust', () => {
  it('follows what the cluster says, over restarts, by the clock', async () => {
    const clock = new FakeClock(NOW);
    const trust = await open(old.certificatePem, clock);
    told = `${young.certificatePem}${old.certificatePem}`;
    trust.start();
    await clock.advance(5 * 60_000);
    await expect.poll(() => changes).toBe(1);
    trust.stop();
    expect(trust.pem).toBe(told);
    expect((await open(old.certificatePem)).pem).toBe(told);
  });

  it('forgets what it followed, when it is told to join with others', async () => {
    told = `${young.certificatePem}${old.certificatePem}`;
    await (await open(old.certificatePem)).look();
    expect((await open(young.certificatePem)).pem).toBe(young.certificatePem);
  });

  it.each<[string, () => string | Error]>([
    ['when it may not ask', () => failure('Forbidden', 'no')],
    ['when nobody answers', () => new Error('connection refused')],
    ['when what it is told is no certificate', () => 'nonsense'],
    ['when there is nothing new', () => old.certificatePem],
  ])('stays with what it has %s', async (_name, answer) => {
    told = answer();
    const trust = await open(old.certificatePem);
    await trust.look();
    expect([trust.pem, changes]).toEqual([old.certificatePem, 0]);
  });
});

describe('authorities that a cluster names', () => {
  const at = Date.parse(NOW);
  const ends = at + 1000;
  const named = (isAuthority: boolean): string => {
    const { privateKey } = generateKeys();
    return issueCertificate({ ...authorityTemplate('young', privateKey, at, ends), isAuthority }, old);
  };
  const cases: [what: string, isTaken: boolean, pem: () => string][] = [
    ['are taken with a known one among them', true, () => `${young.certificatePem}${old.certificatePem}`],
    ['are taken when a known one has signed one of them', true, () => `${young.certificatePem}${named(true)}`],
    ['are refused when they are strangers', false, () => young.certificatePem],
    ['are refused when a known one has only signed what is no authority', false, () => `${young.certificatePem}${named(false)}`],
    ['are refused when they cannot be read', false, () => 'nonsense'],
  ];
  it.each(cases)('%s', async (_what, isTaken, pem) => {
    told = pem();
    const trust = await open(old.certificatePem);
    await trust.look();
    expect([trust.pem, changes, warnings.length]).toEqual(isTaken ? [told, 1, 0] : [old.certificatePem, 0, 1]);
    expect((await open(old.certificatePem)).pem).toBe(trust.pem);
  });
});

describe('isOfFirst', () => {
  it('tells whether the authority that signs now has signed it', () => {
    const { publicKey } = generateKeys();
    const at = Date.parse(NOW);
    const template = { subject: { commonName: 'n', organizations: [] }, publicKey, usages: ['client auth'] };
    const leaf = issueCertificate({ ...template, notBefore: new Date(at), notAfter: new Date(at + 1000) }, old);
    expect(isOfFirst(leaf, `${old.certificatePem}${young.certificatePem}`)).toBe(true);
    expect(isOfFirst(leaf, `${young.certificatePem}${old.certificatePem}`)).toBe(false);
  });
});
