import { generateKeyPairSync } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { jsonWebKeySet } from '../openid.ts';
import { START, TestIdentity } from '../testing-identity.ts';
import { parseToken, signToken } from './json-web-token.ts';
import { CORE } from './token-authenticator.ts';

let test: TestIdentity;
beforeEach(() => {
  test = new TestIdentity();
});

const HOUR = 3600_000;

function issue(seconds = 3600, bound = {}): string {
  const account = test.objects.get(CORE.serviceAccounts, 'a', 'robot') ?? test.account('a', 'robot');
  return test.identity.issuer.issue({ account, audiences: test.identity.apiAudiences, expirationSeconds: seconds, bound }).token;
}

/** Why a token is refused, as a TokenReview would tell. */
function reasonOf(token: string): string {
  try {
    test.identity.tokens.review(token, test.identity.apiAudiences);
    return 'accepted';
  } catch (error) {
    return (error as Error).message.replace(/^\[invalid bearer token, (.*)\]$/, '$1');
  }
}

describe('a bound ServiceAccount token', () => {
  it('identifies its account with pod and node', () => {
    const token = issue(3600, { pod: test.pod('a', 'p', 'robot', 'n'), node: { name: 'n', uid: 'uid-n' } });
    expect(test.authenticate(token)).toEqual({
      name: 'system:serviceaccount:a:robot',
      uid: 'uid-robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/pod-name': ['p'],
        'authentication.kubernetes.io/pod-uid': ['uid-p'],
        'authentication.kubernetes.io/credential-id': ['JTI=jti-1'],
        'authentication.kubernetes.io/node-name': ['n'],
        'authentication.kubernetes.io/node-uid': ['uid-n'],
      },
    });
  });

  it('carries the claims of Kubernetes, verified by another implementation', async () => {
    const keys = createLocalJWKSet(jsonWebKeySet(test.identity.keys));
    const { payload, protectedHeader } = await jwtVerify(issue(), keys, { currentDate: new Date(START), issuer: test.identity.issuerUrl });
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: test.identity.keys[0].id });
    expect(payload).toEqual({
      iss: 'https://kubernetes.default.svc.cluster.local',
      aud: ['https://kubernetes.default.svc.cluster.local'],
      sub: 'system:serviceaccount:a:robot',
      jti: 'jti-1',
      iat: START / 1000,
      nbf: START / 1000,
      exp: START / 1000 + 3600,
      'kubernetes.io': { namespace: 'a', serviceaccount: { name: 'robot', uid: 'uid-robot' } },
    });
  });

  it('is checked with RSA keys too', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    expect(parseToken(signToken({ a: 1 }, rsa.privateKey))?.header.alg).toBe('RS256');
  });

  const refusals: [string, () => string, string][] = [
    ['after its time', () => ((test.now += 2 * HOUR), ''), 'service account token has expired'],
    ['before its time', () => ((test.now -= HOUR), ''), 'service account token is not valid yet'],
    ['when its account is gone', () => (test.objects.remove(CORE.serviceAccounts, 'a', 'robot'), ''), 'serviceaccounts "robot" not found'],
    [
      'when its account was made anew',
      () => (test.account('a', 'robot', 'other'), ''),
      'service account UID (other) does not match claim (uid-robot)',
    ],
    ['when its pod is gone', () => (test.objects.remove(CORE.pods, 'a', 'p'), ''), 'service account token has been invalidated'],
  ];
  for (const [name, change, message] of refusals) {
    it(`is refused ${name}, although it was just accepted`, () => {
      const token = issue(3600, { pod: test.pod('a', 'p', 'robot') });
      expect(test.authenticate(token)?.name).toBe('system:serviceaccount:a:robot');
      change();
      expect(reasonOf(token)).toBe(message);
      if (test.now === START) expect(() => test.authenticate(token)).toThrow('Unauthorized');
    });
  }

  it('stays good for a minute after the deletion of its pod began', () => {
    const pod = test.pod('a', 'p', 'robot');
    const token = issue(3600, { pod });
    test.objects.put(CORE.pods, { ...pod, metadata: { ...pod.metadata, deletionTimestamp: new Date(START).toISOString() } });
    expect(reasonOf(token)).toBe('accepted');
    test.now += 61_000;
    expect(reasonOf(token)).toBe('service account token has been invalidated');
  });

  it('is bound to a node or a secret alike', () => {
    const onNode = issue(3600, { node: { name: test.node('n').metadata.name!, uid: 'uid-n' } });
    const onSecret = issue(3600, { secret: test.secret('a', 's', 'Opaque', {}) });
    expect([reasonOf(onNode), reasonOf(onSecret)]).toEqual(['accepted', 'accepted']);
    test.objects.remove(CORE.nodes, '', 'n');
    test.secret('a', 's', 'Opaque', {}, { uid: 'other' });
    expect(reasonOf(onNode)).toBe('service account token has been invalidated');
    expect(reasonOf(onSecret)).toBe('secret UID (other) does not match service account secret ref claim (uid-s)');
  });

  it('for another audience is refused here and accepted in a review for that audience', () => {
    const account = test.account('a', 'robot');
    const { token } = test.identity.issuer.issue({ account, audiences: ['vault'], expirationSeconds: 600 });
    expect(() => test.authenticate(token)).toThrow('Unauthorized');
    expect(test.refused[0]).toBe(
      `[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["${test.identity.issuerUrl}"]]`,
    );
    expect(test.identity.tokens.review(token, ['vault', 'x']).audiences).toEqual(['vault']);
  });
});

describe('a forged token', () => {
  const forgeries: [string, (claims: object) => string][] = [
    ['by another key', (claims) => signToken(claims, generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey)],
    [
      'by another key under our key’s id',
      (claims) =>
        withHeader(signToken(claims, generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey), {
          alg: 'ES256',
          kid: test.identity.keys[0].id,
        }),
    ],
    ['with the algorithm none', (claims) => withHeader(signToken(claims, test.keys.privateKey), { alg: 'none' })],
    [
      'with an algorithm of shared secrets',
      (claims) => withHeader(signToken(claims, test.keys.privateKey), { alg: 'HS256', kid: test.identity.keys[0].id }),
    ],
    ['with critical headers', (claims) => withHeader(signToken(claims, test.keys.privateKey), { alg: 'ES256', crit: ['b64'] })],
    [
      'with other claims',
      (claims) =>
        signToken(claims, test.keys.privateKey).replace(
          /\.[^.]+\./,
          `.${Buffer.from(JSON.stringify({ ...claims, sub: 'x' })).toString('base64url')}.`,
        ),
    ],
  ];

  function withHeader(token: string, header: object): string {
    return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...token.split('.').slice(1)].join('.');
  }

  for (const [name, forge] of forgeries) {
    it(`is refused ${name}`, () => {
      const { claims } = parseToken(issue())!;
      expect(() => test.authenticate(forge(claims))).toThrow('Unauthorized');
    });
  }

  it.each(['', 'x', 'a.b', 'a.b.c', '{"a":1}', 'e30.e30.e30', 'bnVsbA.bnVsbA.x'])('that is none (%j) is unknown', (token) => {
    expect(reasonOf(token)).toBe('invalid bearer token');
  });
});

describe('a token kept in a Secret', () => {
  function legacy(): string {
    const token = test.identity.issuer.issueLegacy(test.account('a', 'robot'), 's');
    test.secret('a', 's', 'kubernetes.io/service-account-token', { token });
    return token;
  }

  it('identifies its account', () => {
    expect(test.authenticate(legacy())).toMatchObject({ name: 'system:serviceaccount:a:robot', uid: 'uid-robot' });
  });

  it('goes with its Secret, its content, its account and its label', () => {
    const token = legacy();
    expect(reasonOf(token)).toBe('accepted');
    test.secret('a', 's', 'kubernetes.io/service-account-token', { token: 'other' });
    expect(reasonOf(token)).toBe("Token does not match server's copy");
    test.secret(
      'a',
      's',
      'kubernetes.io/service-account-token',
      { token },
      { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } },
    );
    expect(reasonOf(token)).toContain('has been marked invalid');
    test.objects.remove(CORE.secrets, 'a', 's');
    expect(reasonOf(token)).toBe('Token has been invalidated');
  });
});

describe('a bootstrap token', () => {
  const good = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' };
  const put = (data: Record<string, string>, type = 'bootstrap.kubernetes.io/token') =>
    test.secret('kube-system', 'bootstrap-token-abcdef', type, data);

  it('identifies a machine with its groups', () => {
    put({ ...good, 'auth-extra-groups': 'system:bootstrappers:z,system:bootstrappers:a' });
    expect(test.authenticate('abcdef.0123456789abcdef')).toEqual({
      name: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:z', 'system:authenticated'],
    });
  });

  const refused: [string, Record<string, string>, string?][] = [
    ['with another secret', { ...good, 'token-secret': '0123456789abcdeg' }],
    ['with another id inside', { ...good, 'token-id': 'abcdeg' }],
    ['that is not for authentication', { ...good, 'usage-bootstrap-authentication': 'false' }],
    ['that has expired', { ...good, expiration: '2026-04-30T00:00:00Z' }],
    ['with a date that is none', { ...good, expiration: 'tomorrow' }],
    ['with a group outside of its prefix', { ...good, 'auth-extra-groups': 'system:masters' }],
    ['of another type', good, 'Opaque'],
  ];
  for (const [name, data, type] of refused) {
    it(`is refused ${name}`, () => {
      put(data, type);
      expect(reasonOf('abcdef.0123456789abcdef')).toBe('invalid bearer token');
    });
  }

  it('ends at its expiration, although it was just accepted', () => {
    put({ ...good, expiration: '2026-05-01T12:00:05Z' });
    expect(test.authenticate('abcdef.0123456789abcdef')?.name).toBe('system:bootstrap:abcdef');
    test.now += 6000;
    expect(() => test.authenticate('abcdef.0123456789abcdef')).toThrow('Unauthorized');
  });
});

describe('the cache of tokens', () => {
  it('gives the same user object for the same token', () => {
    const token = issue();
    expect(test.authenticate(token)).toBe(test.authenticate(token));
  });

  it('is bounded', () => {
    for (let i = 0; i < 4100; i++) {
      const id = i.toString().padStart(6, '0');
      const data = { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' };
      test.secret('kube-system', `bootstrap-token-${id}`, 'bootstrap.kubernetes.io/token', data);
      test.authenticate(`${id}.0123456789abcdef`);
    }
    expect(test.identity.tokens.size).toBe(4096);
  });
});
