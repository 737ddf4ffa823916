import { expect, it } from 'vitest';
import { judgeRequest, type AskedCertificate } from './judge-request.ts';
import type { Worker } from './pool-plan.ts';

type Names = AskedCertificate['request']['alternativeNames'];

const WORKERS: Worker[] = [
  { name: 'dev-a-11111', pool: 'a', address: '10.0.1.12', mac: '' },
  { name: 'dev-a-22222', pool: 'a', address: '10.0.1.13', mac: '' },
];
const tokenOf = ({ name }: Worker) => `t${name.slice(-5)}`;
const NONE: Names = { dnsNames: [], addresses: [], emails: [], uris: [] };

const TOKEN: AskedCertificate = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  username: 'system:bootstrap:t11111',
  groups: ['system:bootstrappers', 'system:bootstrappers:tenantry:worker', 'system:authenticated'],
  usages: ['digital signature', 'client auth'],
  request: { subject: { commonName: 'system:node:dev-a-11111', organizations: ['system:nodes'] }, alternativeNames: NONE },
};
const RENEWAL: AskedCertificate = { ...TOKEN, username: 'system:node:dev-a-11111', groups: ['system:nodes', 'system:authenticated'] };
const SERVING: AskedCertificate = {
  ...RENEWAL,
  signerName: 'kubernetes.io/kubelet-serving',
  usages: ['digital signature', 'key encipherment', 'server auth'],
  request: { ...RENEWAL.request, alternativeNames: { ...NONE, dnsNames: ['dev-a-11111'], addresses: ['10.0.1.12'] } },
};
const as = (commonName: string, organizations = ['system:nodes']) => ({ subject: { commonName, organizations }, alternativeNames: NONE });
const serving = (names: Partial<Names>) => ({ ...SERVING.request, alternativeNames: { ...NONE, ...names } });

it.each<[string, AskedCertificate]>([
  ['the first certificate of a worker', TOKEN],
  ['the next one', RENEWAL],
  ['the one of its server', SERVING],
])('%s is approved', (_name, asked) => {
  expect(judgeRequest(asked, WORKERS, tokenOf)).toEqual({ verdict: 'approve', worker: 'dev-a-11111' });
});

it.each<[string, AskedCertificate, string]>([
  [
    'a worker that lies about its name',
    { ...TOKEN, request: as('system:node:dev-a-22222') },
    'worker "dev-a-11111" asks for a certificate of "system:node:dev-a-22222"',
  ],
  [
    'a worker that makes a name up',
    { ...TOKEN, request: as('system:node:other') },
    'worker "dev-a-11111" asks for a certificate of "system:node:other"',
  ],
  [
    'a worker that wants to be an administrator',
    { ...TOKEN, request: as('system:node:dev-a-11111', ['system:nodes', 'system:masters']) },
    'worker "dev-a-11111" asks for a certificate of the groups "system:nodes", "system:masters"',
  ],
  [
    'a worker that lies about its address',
    { ...SERVING, request: serving({ addresses: ['10.0.1.13'] }) },
    'worker "dev-a-11111" has the address 10.0.1.12, and asks for a certificate for "10.0.1.13"',
  ],
  [
    'a worker that wants to be a name',
    { ...SERVING, request: serving({ dnsNames: ['kubernetes.default'], addresses: ['10.0.1.12'] }) },
    'worker "dev-a-11111" has the address 10.0.1.12, and asks for a certificate for "kubernetes.default"',
  ],
  ['a server without an address', { ...SERVING, request: serving({}) }, 'worker "dev-a-11111" asks for a certificate without its address'],
  [
    'a node that asks for the certificate of another',
    { ...RENEWAL, username: 'system:node:dev-a-22222' },
    'worker "dev-a-22222" asks for a certificate of "system:node:dev-a-11111"',
  ],
  [
    'a certificate for a server that a token asks for',
    { ...SERVING, username: TOKEN.username, groups: TOKEN.groups },
    'worker "dev-a-11111" has to ask for it as itself',
  ],
  [
    'a certificate for more',
    { ...TOKEN, usages: ['digital signature', 'client auth', 'server auth'] },
    'worker "dev-a-11111" asks for a certificate for "digital signature", "client auth", "server auth"',
  ],
  [
    'a token of a worker that is gone',
    { ...TOKEN, username: 'system:bootstrap:t99999' },
    '"system:bootstrap:t99999" is no worker of this cluster, and has no token of one',
  ],
  [
    'somebody else who asks for the certificate of a worker',
    { ...TOKEN, username: 'mallory', groups: ['system:authenticated'] },
    '"mallory" is no worker of this cluster, and has no token of one',
  ],
])('%s is denied', (_name, asked, message) => {
  expect(judgeRequest(asked, WORKERS, tokenOf)).toEqual({ verdict: 'deny', message });
});

it.each<[string, AskedCertificate]>([
  ['another signer', { ...TOKEN, signerName: 'example.com/mine' }],
  ['a node that the tenant has elsewhere', { ...TOKEN, username: 'admin', groups: [], request: as('system:node:laptop') }],
])('%s is left to the administrators of the cluster', (_name, asked) => {
  expect(judgeRequest(asked, WORKERS, tokenOf)).toEqual({ verdict: 'leave' });
});
