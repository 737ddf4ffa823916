import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { FakeApi } from '../../../../test/support/fake-api.ts';
import { createClient } from '../../../client/client.ts';
import { createInMemoryTransport } from '../../../client/in-memory/in-memory-transport.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { FakeClock } from '../../../lib/clock-fake.ts';
import { silentLog } from '../../../lib/log.ts';
import { createCertificateRequest } from '../../../lib/pki/certificate-request.ts';
import { issueSelfSigned, type Authority } from '../../../lib/pki/certificate.ts';
import { SharedInformers } from '../../../runtime/informer/shared-informers.ts';
import type { Environment } from '../environment.ts';
import { certificatesController } from './certificates.controller.ts';
import { cleanUpAfter } from './clean-up.ts';
import { validityOf } from './sign.ts';

const NOW = '2026-01-01T00:00:00Z';
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
let authority: Authority;
beforeAll(() => {
  const template = {
    subject: { commonName: 'test-ca', organizations: [] },
    publicKey: keys.publicKey,
    usages: ['cert sign', 'digital signature'],
    notBefore: new Date('2025-01-01'),
    notAfter: new Date('2030-01-01'),
    isAuthority: true,
  };
  authority = {
    certificate: new X509Certificate(issueSelfSigned(template, keys.privateKey)),
    key: createPrivateKey(keys.privateKey.export({ format: 'pem', type: 'pkcs8' })),
  };
});

function aRequest(spec: object, subject = { commonName: 'alice', organizations: ['team'] }, status: object = {}): KubeObject {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr', creationTimestamp: NOW },
    spec: {
      request: Buffer.from(createCertificateRequest(subject, keys)).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
      ...spec,
    },
    status,
  };
}
const approved = { conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: NOW }] };

async function afterwards(csr: KubeObject, allowed = false, waitMs = 1000): Promise<KubeObject | undefined> {
  const api = new FakeApi();
  const clock = new FakeClock(NOW);
  const reviews: KubeObject[] = [];
  const client = createClient(
    createInMemoryTransport((request) => {
      if (!request.path.endsWith('/subjectaccessreviews')) return api.handler(request);
      reviews.push(request.body as KubeObject);
      return Promise.resolve({ status: 201, headers: {}, body: { ...(request.body as object), status: { allowed } } });
    }),
    { clock },
  );
  const informers = new SharedInformers({ client, log: silentLog });
  const running = certificatesController({ client, clock, log: silentLog, informers } as unknown as Environment, () => authority);
  api.put(csr, 'certificatesigningrequests');
  await clock.advance(waitMs);
  await running.stop();
  return api.get('certificatesigningrequests', '', 'csr');
}

test('an approved request is signed with its subject and usages', async () => {
  const csr = await afterwards(aRequest({ expirationSeconds: 3600 }, undefined, approved));
  const certificate = new X509Certificate(Buffer.from(csr!.status.certificate, 'base64'));
  expect(certificate.subject).toContain('CN=alice');
  expect(certificate.verify(authority.certificate.publicKey)).toBe(true);
  expect(Date.parse(certificate.validTo) - Date.parse(NOW)).toBeLessThanOrEqual(3_601_000);
});

test('a request that nobody approved is left alone', async () => {
  expect((await afterwards(aRequest({})))!.status).toEqual({});
});

test('a signer of others is left alone', async () => {
  expect((await afterwards(aRequest({ signerName: 'example.com/mine' }, undefined, approved)))!.status).toEqual(approved);
});

test('a request that its signer must not fulfil fails with the reason', async () => {
  const csr = await afterwards(aRequest({ usages: ['server auth'] }, undefined, approved));
  expect(csr!.status.conditions[1]).toMatchObject({
    type: 'Failed',
    reason: 'SignerValidationFailure',
    message: 'invalid usage for client certificate: server auth',
  });
});

const node = { commonName: 'system:node:n1', organizations: ['system:nodes'] };
const kubelet = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
  username: 'system:node:n1',
};

test('a kubelet that may have its certificate gets approved and then signed', async () => {
  const csr = await afterwards(aRequest(kubelet, node), true);
  expect(csr!.status.conditions[0]).toMatchObject({
    type: 'Approved',
    reason: 'AutoApproved',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  });
});

test('a kubelet that may not waits for a person', async () => {
  expect((await afterwards(aRequest(kubelet, node), false))!.status).toEqual({});
});

test('a pending request goes after a day', async () => {
  expect(await afterwards(aRequest({}), false, 24 * 3_600_000 - 1000)).toBeDefined();
  expect(await afterwards(aRequest({}), false, 24 * 3_600_000)).toBeUndefined();
});

test.each<[string, object, number]>([
  ['pending', {}, 24],
  ['approved and issued', { ...approved, certificate: 'x' }, 1],
  ['approved and not issued', approved, 24],
  ['denied', { conditions: [{ type: 'Denied', lastUpdateTime: NOW }] }, 1],
])('cleanUpAfter of a request that is %s', (_name, status, hours) => {
  const csr = { metadata: { creationTimestamp: NOW }, status } as unknown as KubeObject;
  expect(cleanUpAfter(csr, Date.parse(NOW))).toBe(hours * 3_600_000);
});

test.each<[string, number | undefined, string]>([
  ['a year when nothing is asked', undefined, '2026-12-31T23:55:00.000Z'],
  ['ten minutes at least', 60, '2026-01-01T00:10:00.000Z'],
  ['what is asked', 7200, '2026-01-01T02:00:00.000Z'],
])('validityOf gives %s', (_name, seconds, notAfter) => {
  const validity = validityOf(seconds, Date.parse('2030-01-01'), Date.parse(NOW));
  expect(validity.notAfter.toISOString()).toBe(notAfter);
  expect(validity.notBefore.toISOString()).toBe('2025-12-31T23:55:00.000Z');
});

test('validityOf never outlives the authority', () => {
  expect(validityOf(undefined, Date.parse('2026-02-01'), Date.parse(NOW)).notAfter).toEqual(new Date('2026-02-01'));
});
