import { beforeEach, describe, expect, it } from 'vitest';
import { CORE } from './authentication/token-authenticator.ts';
import { TestIdentity } from './testing-identity.ts';
import { TokenSecrets } from './token-secrets.ts';

const TYPE = 'kubernetes.io/service-account-token';
const named = { annotations: { 'kubernetes.io/service-account.name': 'robot' } };

let test: TestIdentity;
let errors: unknown[];
let secrets: TokenSecrets;
beforeEach(() => {
  test = new TestIdentity();
  errors = [];
  secrets = new TokenSecrets({ writer: test.objects, issuer: test.identity.issuer, rootCa: 'CA', onError: (error) => errors.push(error) });
  test.account('a', 'robot');
  test.objects.put({ group: '', resource: 'namespaces' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } });
});

const settled = () => new Promise((resolve) => void setImmediate(() => void setImmediate(resolve)));
const stored = () => test.objects.get(CORE.secrets, 'a', 's');

describe('TokenSecrets', () => {
  it('fills a Secret with a token that authenticates', async () => {
    secrets.start();
    test.secret('a', 's', TYPE, {}, named);
    await settled();
    const { data, metadata } = stored()!;
    expect(Buffer.from(data['ca.crt'], 'base64').toString()).toBe('CA');
    expect(Buffer.from(data.namespace, 'base64').toString()).toBe('a');
    expect(metadata.annotations).toEqual({
      'kubernetes.io/service-account.name': 'robot',
      'kubernetes.io/service-account.uid': 'uid-robot',
    });
    const user = test.authenticate(Buffer.from(data.token, 'base64').toString());
    expect(user?.name).toBe('system:serviceaccount:a:robot');
    expect(errors).toEqual([]);
  });

  it('fills what was there before it started', async () => {
    test.secret('a', 's', TYPE, {}, named);
    secrets.start();
    await settled();
    expect(stored()!.data.token).toBeDefined();
  });

  it('leaves a filled one and other types alone', async () => {
    secrets.start();
    test.secret('a', 's', TYPE, {}, named);
    test.secret('a', 'other', 'Opaque', {}, named);
    await settled();
    const before = test.objects.writes;
    const { data } = stored()!;
    test.objects.put(CORE.secrets, { ...stored()!, metadata: { ...stored()!.metadata, labels: { a: 'b' } } });
    await settled();
    expect(test.objects.writes).toBe(before + 1);
    expect(stored()!.data).toEqual(data);
  });

  it('removes a Secret whose account does not exist or was made anew', async () => {
    secrets.start();
    test.secret('a', 's', TYPE, {}, { annotations: { 'kubernetes.io/service-account.name': 'nobody' } });
    await settled();
    expect(stored()).toBeUndefined();
    test.secret('a', 's', TYPE, {}, { annotations: { ...named.annotations, 'kubernetes.io/service-account.uid': 'former' } });
    await settled();
    expect(stored()).toBeUndefined();
  });

  it('removes the Secrets of an account that goes', async () => {
    secrets.start();
    test.secret('a', 's', TYPE, {}, named);
    await settled();
    test.objects.remove(CORE.serviceAccounts, 'a', 'robot');
    await settled();
    expect(stored()).toBeUndefined();
  });
});
