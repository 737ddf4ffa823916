import { exportJWK, generateKeyPair, importJWK, jwtVerify, type CryptoKey } from 'jose';
import { expect, test } from 'vitest';
import { claimsOf, keyIdOf, remainingMs, signToken } from './plugin-token.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const target = (permissions: string[] = []) =>
  ({ plugin: 'hello', publisher: 'acme', tenant: 'school', manifest: { spec: { permissions } } }) as never;

async function signed(permissions: string[] = []) {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const key = (await importJWK(await exportJWK(privateKey), 'ES256')) as CryptoKey;
  return { token: await signToken(claimsOf(target(permissions), 's1'), { id: 'key-1', key }, NOW), publicKey };
}

test('a token is of the plugin and the tenant, for ten minutes', async () => {
  const { token, publicKey } = await signed(['b.read', 'a.write']);
  const { payload, protectedHeader } = await jwtVerify(token, publicKey, {
    currentDate: new Date(NOW),
    issuer: 'https://tenantry.dev/plugins',
  });
  expect(payload).toMatchObject({ sub: 'plugin:hello:school', exp: NOW / 1000 + 600, iat: NOW / 1000, permissions: ['a.write', 'b.read'] });
  expect(protectedHeader).toMatchObject({ alg: 'ES256', kid: 'key-1' });
  expect(keyIdOf(token)).toBe('key-1');
});

test('a verifier whose clock is half a minute behind accepts it', async () => {
  const { token, publicKey } = await signed();
  await expect(jwtVerify(token, publicKey, { currentDate: new Date(NOW - 29_000) })).resolves.toBeDefined();
  await expect(jwtVerify(token, publicKey, { currentDate: new Date(NOW - 31_000) })).rejects.toThrow('"nbf"');
});

test.each([
  ['stays while it is young', NOW, [], 300_000],
  ['is replaced in the second half of its life', NOW + 300_000, [], 0],
  ['is replaced when the permissions are others', NOW, ['a.read'], 0],
  ['is replaced when the clock went back behind its time', NOW - 3600_000, [], 0],
])('a token %s', async (_, now, permissions: string[], expected) => {
  const { token } = await signed();
  expect(remainingMs(token, claimsOf(target(permissions), 's1'), now)).toBe(expected);
});

test('what is no token has to be replaced', () => {
  expect(remainingMs('garbage', claimsOf(target(), 's1'), NOW)).toBe(0);
  expect(keyIdOf('garbage')).toBeUndefined();
});
