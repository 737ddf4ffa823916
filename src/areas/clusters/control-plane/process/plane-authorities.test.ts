import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensurePki } from '../../../../lib/pki/ensure-pki.ts';
import { parsePem } from '../../../../lib/pki/pem.ts';
import { NO_WISH } from './model/rotation-step.ts';
import { PlaneAuthorities } from './plane-authorities.ts';

const DAY = 24 * 3600 * 1000;
const NOW = Date.parse('2030-01-01T00:00:00Z');
const AUTHORITIES = { ca: 'tenantry-ca', 'front-proxy-ca': 'tenantry-front-proxy-ca' };
let root: string;
const keys = () => join(root, 'pki');
const places = () => ({ state: join(root, 'authorities.json'), keys: keys(), authorities: AUTHORITIES });
const open = async () => (await PlaneAuthorities.open(places()))!;
const file = (name: string) => readFileSync(join(keys(), name), 'utf8');
const subjects = (name: string) => parsePem(file(name)).map(({ der }) => new X509Certificate(der).subject);
/** What programs would find: the files made right, then the leaves. */
const ensure = async (authorities: PlaneAuthorities, now: number) => {
  await authorities.apply();
  return ensurePki(keys(), { leavesSince: authorities.leavesSince, clock: { now: () => now } });
};

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'tenantry-authorities-'));
  mkdirSync(keys());
  await ensurePki(keys(), { clock: { now: () => NOW } });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('PlaneAuthorities', () => {
  it('are those that were made, until something is asked for', async () => {
    const before = file('ca.crt');
    const authorities = await open();
    await authorities.advance(NO_WISH, NOW);
    await ensure(authorities, NOW);
    expect(file('ca.crt')).toBe(before);
    expect(authorities.trust).toBeUndefined();
  });

  it('are none while there are none', async () => {
    rmSync(join(keys(), 'ca.key'));
    expect(await PlaneAuthorities.open(places())).toBeUndefined();
  });

  it('take no request for one that was there before they were made', async () => {
    const wish = { certificates: 1, authorities: 2, revoke: 3 };
    await PlaneAuthorities.open(places(), wish);
    const authorities = await open();
    await authorities.advance(wish, NOW);
    expect(authorities.news.edition).toBe(1);
  });

  it('sign from now on, with those of before trusted and vouching for them', async () => {
    const former = new X509Certificate(file('ca.crt'));
    const authorities = await open();
    await authorities.advance({ ...NO_WISH, authorities: 1 }, NOW);
    const pki = await ensure(authorities, NOW);
    expect(subjects('ca.crt')).toEqual(['CN=tenantry-ca-2', 'CN=tenantry-ca']);
    expect(subjects('front-proxy-ca.crt')).toEqual(['CN=tenantry-front-proxy-ca-2', 'CN=tenantry-front-proxy-ca']);
    const [leaf, cross] = parsePem(pki.serving.certificatePem).map(({ der }) => new X509Certificate(der));
    expect(leaf.verify(cross.publicKey)).toBe(true);
    expect(cross.verify(former.publicKey)).toBe(true);
    expect(pki.formerServiceAccountKeys).toHaveLength(1);
    expect(authorities.news).toMatchObject({ edition: 2, reason: 'Asked', formersUntil: NOW + 365 * DAY, oldestTrusted: 1 });
  });

  it('are found again after kill -9 at any point of writing the files', async () => {
    await (await open()).advance({ ...NO_WISH, authorities: 1 }, NOW);
    // Written down, and then a key without its certificate, which is as far as it came.
    const { signing } = JSON.parse(readFileSync(places().state, 'utf8')) as { signing: { ca: { keyPem: string } } };
    writeFileSync(join(keys(), 'ca.key'), signing.ca.keyPem);
    const pki = await ensure(await open(), NOW);
    expect(pki.authority.certificate.subject).toBe('CN=tenantry-ca-2');
    expect(pki.serving.certificate.verify(pki.authority.certificate.publicKey)).toBe(true);
    const signer = createPublicKey(createPrivateKey(file('sa.key'))).export({ type: 'spki', format: 'pem' });
    expect(file('sa.pub').startsWith(signer as string)).toBe(true);
  });

  it('go a year later by themselves, and nothing of them is left', async () => {
    const wish = { ...NO_WISH, authorities: 1 };
    const authorities = await open();
    expect(await authorities.advance(wish, NOW)).toBe(NOW + 365 * DAY);
    await ensure(authorities, NOW);
    const serial = new X509Certificate(file('apiserver.crt')).serialNumber;
    const trusted = authorities.trust;
    await authorities.advance(wish, NOW + 365 * DAY);
    await ensure(authorities, NOW);
    expect(subjects('ca.crt')).toEqual(['CN=tenantry-ca-2']);
    // The leaf stays, and nobody vouches for its authority any more.
    expect(parsePem(file('apiserver.crt')).map(({ der }) => new X509Certificate(der).serialNumber)).toEqual([serial]);
    expect(authorities.trust).not.toBe(trusted);
    expect((await ensure(authorities, NOW)).formerServiceAccountKeys).toEqual([]);
  });

  it('vouch for each other, when others come before the first ones have gone', async () => {
    const authorities = await open();
    await authorities.advance({ ...NO_WISH, authorities: 1 }, NOW);
    await authorities.advance({ ...NO_WISH, authorities: 2 }, NOW + DAY);
    const pki = await ensure(authorities, NOW + DAY);
    expect(subjects('ca.crt')).toEqual(['CN=tenantry-ca-3', 'CN=tenantry-ca-2', 'CN=tenantry-ca']);
    const chain = parsePem(pki.serving.certificatePem).map(({ der }) => new X509Certificate(der));
    expect(chain.map(({ issuer }) => issuer)).toEqual(['CN=tenantry-ca-3', 'CN=tenantry-ca-2', 'CN=tenantry-ca']);
  });

  it('are no more than five, however often others are asked for', async () => {
    const authorities = await open();
    for (let count = 1; count <= 6; count++) await authorities.advance({ ...NO_WISH, authorities: count }, NOW + count * DAY);
    const pki = await ensure(authorities, NOW + 6 * DAY);
    expect(subjects('ca.crt')).toEqual([7, 6, 5, 4, 3].map((edition) => `CN=tenantry-ca-${edition}`));
    expect(parsePem(pki.serving.certificatePem)).toHaveLength(5);
    expect(authorities.news).toMatchObject({ oldestTrusted: 3, isCleanCut: false });
  });

  it('are replaced, when they ended while nobody was there', async () => {
    const later = NOW + 4000 * DAY;
    const authorities = await open();
    await authorities.advance(NO_WISH, later);
    const pki = await ensure(authorities, later);
    expect(subjects('ca.crt')).toEqual(['CN=tenantry-ca-2', 'CN=tenantry-ca']);
    expect(parsePem(pki.serving.certificatePem)).toHaveLength(1);
    expect(Date.parse(pki.serving.certificate.validTo)).toBeGreaterThan(later);
    expect(authorities.news).toMatchObject({ reason: 'Expired', edition: 2 });
  });

  it('have all leaves made anew once, when that is asked for', async () => {
    const wish = { ...NO_WISH, certificates: 1 };
    const serials = (pki: Awaited<ReturnType<typeof ensurePki>>) =>
      [pki.serving, pki.admin, pki.frontProxyClient, pki.kubeletClient].map(({ certificate }) => certificate.serialNumber);
    const authorities = await open();
    const before = serials(await ensure(authorities, NOW));
    await authorities.advance(wish, NOW + DAY);
    const after = serials(await ensure(authorities, NOW + DAY));
    expect(after.filter((serial) => before.includes(serial))).toEqual([]);
    await authorities.advance(wish, NOW + 2 * DAY);
    expect(serials(await ensure(await open(), NOW + 2 * DAY))).toEqual(after);
    expect(authorities.trust).toBeUndefined();
  });
});
