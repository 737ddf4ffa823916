import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { claimsOf, signToken } from './plugin-token.ts';
import { keysOf, TokenRefused, verifyPluginToken, type VerificationPorts } from './verify-plugin-token.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const target = { plugin: 'hello', publisher: 'acme', tenant: 'school', manifest: { spec: { permissions: ['content.read'] } } } as never;
const installation = (over: object = {}) => ({
  metadata: { name: 'hello', namespace: 'school' },
  spec: { publisher: 'acme', plugin: 'hello' },
  status: { identity: 's1' },
  ...over,
});

let key: CryptoKey;
let other: CryptoKey;
let ports: VerificationPorts;
beforeAll(async () => {
  const pairs = await Promise.all([generateKeyPair('ES256', { extractable: true }), generateKeyPair('ES256')]);
  [key, other] = pairs.map(({ privateKey }) => privateKey);
  const keys = keysOf(
    JSON.stringify({
      keys: [
        { ...(await exportJWK(pairs[0].publicKey)), kid: 'key-1' },
        { kid: 'rsa', kty: 'RSA' },
      ],
    }),
  );
  ports = {
    keys: () => keys,
    installation: (tenant, plugin) => (tenant === 'school' && plugin === 'hello' ? (installation() as never) : undefined),
    isSuspended: ({ spec }) => spec.suspended === true,
    now: () => NOW,
  };
});

const token = (claims: object = {}, by = key, id = 'key-1') => signToken({ ...claimsOf(target, 's1'), ...claims }, { id, key: by }, NOW);

function refusal(text: string, over: Partial<VerificationPorts> = {}): string | undefined {
  try {
    verifyPluginToken(text, { ...ports, ...over });
    return undefined;
  } catch (error) {
    return error instanceof TokenRefused ? error.reason : String(error);
  }
}

describe('verifyPluginToken', () => {
  it('tells whose token it is', async () => {
    expect(verifyPluginToken(await token(), ports)).toEqual({
      subject: 'plugin:hello:school',
      plugin: 'hello',
      publisher: 'acme',
      tenant: 'school',
      permissions: ['content.read'],
      expires: NOW + 600_000,
    });
  });

  it.each(['', 'a.b', 'a.b.c', 'x.eyJpc3MiOiJvdGhlciJ9.y', 'a.b.c.d'])('has nothing to say about %j', (text) => {
    expect(verifyPluginToken(text, ports)).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ['for another audience', { aud: 'somebody-else' }, 'WrongAudience'],
    ['of a subject that is not its tenant’s', { sub: 'plugin:hello:rival' }, 'Malformed'],
    ['of another tenant, where it is not installed', { sub: 'plugin:hello:rival', adapstory_tenant_id: 'rival' }, 'Revoked'],
    ['of another publisher', { plugin_id: 'evil.hello' }, 'Revoked'],
    ['of an earlier installation', { sid: 's0' }, 'Revoked'],
    ['of no installation', { sid: undefined }, 'Revoked'],
    ['without permissions', { permissions: undefined }, 'Malformed'],
  ])('refuses one %s', async (_, claims, reason) => {
    expect(refusal(await token(claims))).toBe(reason);
  });

  it('refuses one by another key, of an unknown key, and with a changed claim', async () => {
    expect(refusal(await token({}, other))).toBe('BadSignature');
    expect(refusal(await token({}, key, 'key-2'))).toBe('UnknownKey');
    const [header, , signature] = (await token()).split('.');
    const claims = Buffer.from(JSON.stringify({ ...claimsOf(target, 's1'), sub: 'plugin:hello:rival' })).toString('base64url');
    expect(refusal(`${header}.${claims}.${signature}`)).toBe('BadSignature');
    const none = Buffer.from('{"alg":"none","kid":"key-1"}').toString('base64url');
    expect(refusal(`${none}.${claims}.`)).toBe('BadSignature');
  });

  it.each([
    ['a verifier that is half a minute behind', -30_000, undefined],
    ['a verifier that is further behind', -31_000, 'NotYetValid'],
    ['a verifier that is ahead', 599_000, undefined],
    ['the end of its time', 600_000, 'Expired'],
  ])('with %s', async (_, offset, reason) => {
    expect(refusal(await token(), { now: () => NOW + offset })).toBe(reason);
  });

  it('refuses one that would live longer than any of ours', async () => {
    const long = await new SignJWT(claimsOf(target, 's1'))
      .setProtectedHeader({ alg: 'ES256', kid: 'key-1' })
      .setIssuedAt(NOW / 1000)
      .setNotBefore(NOW / 1000)
      .setExpirationTime(NOW / 1000 + 3600)
      .sign(key);
    expect(refusal(long)).toBe('Malformed');
  });

  it.each([
    ['suspended', installation({ spec: { publisher: 'acme', plugin: 'hello', suspended: true } })],
    ['being removed', installation({ metadata: { deletionTimestamp: 'now' } })],
    ['gone', undefined],
    ['resumed with another identity', installation({ status: { identity: 's2' } })],
  ])('refuses one whose installation is %s', async (_, found) => {
    expect(refusal(await token(), { installation: () => found as never })).toBe('Revoked');
  });
});
