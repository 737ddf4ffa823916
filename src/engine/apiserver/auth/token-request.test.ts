import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kube/object.ts';
import type { StatusError } from '../../../kube/status.ts';
import { parseToken } from './authentication/json-web-token.ts';
import { openIdConfiguration, jsonWebKeySet } from './openid.ts';
import { START, TestIdentity } from './testing-identity.ts';
import { decodeTokenRequest } from './token-request-body.ts';
import { answerTokenRequest } from './token-request.ts';

function ask(test: TestIdentity, spec: object, metadata: object = {}): KubeObject {
  const { issuer, apiAudiences } = test.identity;
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec };
  return answerTokenRequest(request, { namespace: 'a', name: 'robot', reader: test.objects, issuer, apiAudiences, now: () => test.now });
}

function prepared(): TestIdentity {
  const test = new TestIdentity();
  test.account('a', 'robot');
  test.pod('a', 'p', 'robot', 'n');
  test.pod('a', 'q', 'other');
  test.secret('a', 's', 'Opaque', {});
  return test;
}

describe('answerTokenRequest', () => {
  it('gives a token that authenticates, for an hour and the server itself by default', () => {
    const test = prepared();
    const answer = ask(test, {});
    expect(answer).toMatchObject({
      metadata: { name: 'robot', namespace: 'a', uid: 'uid-robot', creationTimestamp: '2026-05-01T12:00:00Z' },
      spec: { audiences: ['https://kubernetes.default.svc.cluster.local'], expirationSeconds: 3600, boundObjectRef: null },
      status: { expirationTimestamp: '2026-05-01T13:00:00Z' },
    });
    expect(test.authenticate(answer.status.token)?.name).toBe('system:serviceaccount:a:robot');
  });

  it('binds to a pod and notes its node', () => {
    const { claims } = parseToken(ask(prepared(), { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } }).status.token)!;
    expect(claims['kubernetes.io']).toMatchObject({ pod: { name: 'p', uid: 'uid-p' }, node: { name: 'n' } });
  });

  it('lets the default token of a pod outlive its hour, noting when it became stale', () => {
    const answer = ask(prepared(), { expirationSeconds: 3607, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } });
    const { claims } = parseToken(answer.status.token)!;
    expect(claims.exp).toBe(START / 1000 + 365 * 24 * 3600);
    expect(claims['kubernetes.io'].warnafter).toBe(START / 1000 + 3607);
    expect(answer.status.expirationTimestamp).toBe('2026-05-01T13:00:07Z');
  });

  const refused: [string, object, object, number, string][] = [
    [
      'a short life',
      { expirationSeconds: 599 },
      {},
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    ],
    [
      'a long life',
      { expirationSeconds: 2 ** 32 + 1 },
      {},
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
    ],
    [
      'another name',
      {},
      { name: 'x' },
      422,
      'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
    ],
    [
      'another namespace',
      {},
      { namespace: 'x' },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'another uid',
      {},
      { uid: 'x' },
      409,
      'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request (x) does not match the UID of the service account (uid-robot)',
    ],
    [
      'a pod of another account',
      { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'q' } },
      {},
      400,
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    ],
    ['a pod that is not there', { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'x' } }, {}, 404, 'pods "x" not found'],
    [
      'a secret made anew',
      { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'old' } },
      {},
      409,
      'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated',
    ],
    [
      'another kind',
      { boundObjectRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
      {},
      400,
      'cannot bind token to object of type apps/v1, Kind=Deployment',
    ],
  ];
  for (const [name, spec, metadata, code, message] of refused) {
    it(`refuses ${name}`, () => {
      try {
        ask(prepared(), spec, metadata);
        expect.unreachable();
      } catch (error) {
        expect((error as StatusError).status).toMatchObject({ code, message });
      }
    });
  }

  it('refuses an account that does not exist', () => {
    expect(() => ask(new TestIdentity(), {})).toThrow('serviceaccounts "robot" not found');
  });
});

describe('decodeTokenRequest', () => {
  const refusal = (value: unknown, validation?: string): string => {
    try {
      decodeTokenRequest(value, validation, () => undefined);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('refuses wrong types in the words of Kubernetes', () => {
    expect(refusal({ spec: { expirationSeconds: 'long' } })).toBe(
      'TokenRequest in version "v1" cannot be handled as a TokenRequest: json: cannot unmarshal string into Go struct field TokenRequestSpec.spec.expirationSeconds of type int64',
    );
  });

  it('reports unknown fields as the client asked', () => {
    const warnings: string[] = [];
    decodeTokenRequest({ spec: { foo: 1 } }, undefined, (text) => warnings.push(text));
    expect(warnings).toEqual(['unknown field "spec.foo"']);
    expect(refusal({ spec: { foo: 1 } }, 'Strict')).toContain('strict decoding error: unknown field "spec.foo"');
  });
});

describe('the OpenID documents', () => {
  it('name issuer, keys and algorithms', () => {
    const { identity } = new TestIdentity();
    expect(openIdConfiguration(identity.issuerUrl, 'https://h/openid/v1/jwks', identity.keys)).toEqual({
      issuer: 'https://kubernetes.default.svc.cluster.local',
      jwks_uri: 'https://h/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
    const [key] = jsonWebKeySet(identity.keys).keys;
    expect(Object.keys(key)).toEqual(['use', 'kty', 'kid', 'crv', 'x', 'y', 'alg']);
  });
});
