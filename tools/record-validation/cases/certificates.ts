import type { Json } from '../../../src/kube/object.ts';
import type { Base, Change } from '../case.ts';
import { caseSet, clusterScoped, namespaced, STATUS, UPDATE, type Row } from './build.ts';

/** Made with openssl; their keys are gone. */
const ECDSA =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIT01IVUNBUUF3RXpFUk1BOEdBMVVFQXd3SWNtVmpiM0prWldRd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqTwpQUU1CQndOQ0FBVFBZWkt0MlJIczQvaWlHTngrcXZTU2puaktFWmYyTk5DL3BRYmkrTDA4MjYyMXJLbEk1elFFCjBpSnIrZ1RjMFpNL29FbVhwY09qNTl4TkJyNElKcjNEb0FBd0NnWUlLb1pJemowRUF3SURTUUF3UmdJaEFMUmUKV1hOM0UxUlFyeE12aVhpdzFEczdWdHZ1T3F4L0FBSDk5NjAxcjJpYUFpRUFrRTNRekRYLzJFR3V4L3BUOXdkeAo1TkdxTDEwWG0yZ3BSVm95R2todjZLbz0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==';
const RSA =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQ1VUQ0NBVGtDQVFBd0RERUtNQWdHQTFVRUF3d0JjakNDQVNJd0RRWUpLb1pJaHZjTkFRRUJCUUFEZ2dFUApBRENDQVFvQ2dnRUJBSzlHTnZVY3d1SHRsRTJoTDNWK2tJV0tkRjNTTm9KNWxBWjQzNjFMeDhvbk9HYjZlcjRlClYybGZRNzdKZ2F3TmNkUDJlb3dMYk13M1VFR1V5U3NyN2hsSDg1bHZtMnRlakU2Vm9uOWp6KzgrSnlQVVltZi8KaE43ZVBYNlJOdStHVE9BNnowLzhFUVduT2pBdXh6UnNkT3pNZkJ5RStZY1RNWVZRT1hON29Bajk2QnZaWjEvZwpRcjZqcGwyWUczaWRFcG9UQTRVUkhQbWJvbWVPeEtlMWNsNno3OWlFcmx3RmxXM0RIaGlOell6U1F2cDBrRmVhCkxyR0pySStXODBXNUVCek10YXdXUVdlYXlpMGh1NWRhTjVhdUVzNEpHcTMzaW1jemZheS9UdUZTTURlWEpQdDgKSDBPaXVveERUeEcrMVE5MElsbXIyQTZIZlI1eU1JSWlYckVDQXdFQUFhQUFNQTBHQ1NxR1NJYjNEUUVCQ3dVQQpBNElCQVFDdFcyUVl2dkIyRTdKV3B1SWRmYUN3MG9WaU5OSDVBWksxU2NzdnR4Q1dDS21oQWtNazF4TUZKZlozCkJLYkFQSEY4RWR3NEhwVVJyRzgyMmtFM1F0cXF4Z2tobXJsc1kwUDRpV2FYS2VzNi9WeFVjNU5NZnFjbTVLcGkKTWQwMXBDYVRDRjlIQTVNdG9WWWFIMHUxQjRBRjZDenBiRS9yZkNpU004SE0wV1FkQ01WNUM3RGNRNitNenAzMgo5dC9DVVFJbFpiZzRoMkcwY2NodUdaaEUvZEFFK0lQbHIrTXpLb0RpR2xaNXhjdi9PSEVlWXplcnlrcVJaNGgwCi9ONFJ2a09WL2JjTXdFSXpkQUM3VXdiUWFRTnR3WG9xRG95OUFzTWcraDJBd0tkRHA4NFJUSmtOSjdhQmxTUUQKcmQrMFhabWtFNEJHdlFCSlUxbnhJQnZkYUJZcAotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';
const ED25519 =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHTE1EOENBUUF3RERFS01BZ0dBMVVFQXd3QmNqQXFNQVVHQXl0bGNBTWhBTHRkaGVLS0ZYSURqZWxnVFF2MwpPNVRXTy9BUFl0M3RTMTEvc0JVQ1JlTFVvQUF3QlFZREsyVndBMEVBQmN6akwvUit2elZ3bTV5aGJSeFVGNDhtCjBNY0tWZHY4Zk1QZlhEQTVEdFhLajRXTnJhTXM2Y3FZS3MrcjFvWU4rZTNaRmtpVFk4OHE1em1XbVB6ekF3PT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==';
const CERTIFICATE =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJlekNDQVNHZ0F3SUJBZ0lVYm9DQVVCbmh4ZWI1ZGFzTjRKanFkeFZPQVdRd0NnWUlLb1pJemowRUF3SXcKRXpFUk1BOEdBMVVFQXd3SWNtVmpiM0prWldRd0hoY05Nall4TVRFMU1UQXdPRFV4V2hjTk16WXhNVEV5TVRBdwpPRFV4V2pBVE1SRXdEd1lEVlFRRERBaHlaV052Y21SbFpEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VICkEwSUFCSzRQN1I5UXVleWdyS0pXKzVVU0Z6L3VYUHozM0lKc0wxT3NtUDd0VlFQQlp5WUg2K0JMcjJDQ2ZiaGMKUzErV3lXSS9hdEpiWjF1MVg5ck1wSVNySjB5alV6QlJNQjBHQTFVZERnUVdCQlMrS0Zsb0J6UHBjNmNFa25WSAp5RGtPa1AwK3BqQWZCZ05WSFNNRUdEQVdnQlMrS0Zsb0J6UHBjNmNFa25WSHlEa09rUDArcGpBUEJnTlZIUk1CCkFmOEVCVEFEQVFIL01Bb0dDQ3FHU000OUJBTUNBMGdBTUVVQ0lRRGJxeVl3SkVZTTJzR2FUd0tQeUdkOHR3UGQKbm1XZDNNWEtmQnBLQXprS2xnSWdGYzEwK2FoaXU2NEVYalc5SkVMNG5lUkJrUmRaSjhScDR6ejc1QUdzYWZrPQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==';

const b64 = (text: string): string => Buffer.from(text).toString('base64');
const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('latin1');
const SPEC = { request: ECDSA, signerName: 'example.com/s', usages: ['client auth'] };
const condition = (type: string, status = 'True'): Json => ({
  type,
  status,
  reason: 'r',
  message: 'm',
  lastUpdateTime: '2024-01-01T00:00:00Z',
  lastTransitionTime: '2024-01-01T00:00:00Z',
});
const conditions = (...list: Json[]): Change => ({ '/status/conditions': list });
const APPROVAL = { operation: 'update', subresource: 'approval' } as const;

const csr = (name: string, spec: Json): Base =>
  clusterScoped('certificates.k8s.io', 'v1', 'certificatesigningrequests', 'CertificateSigningRequest', name, { spec });
const review = (resource: string, kind: string, spec: Json): Base => {
  const base = clusterScoped('authorization.k8s.io', 'v1', resource, kind, '', { spec });
  return { ...base, object: { ...base.object, metadata: {} }, volatile: true };
};
const resourceAttributes = { verb: 'get', resource: 'pods' };

const bases: Record<string, Base> = {
  request: csr('csr', SPEC),
  issued: { ...csr('issued', SPEC), status: { certificate: CERTIFICATE } },
  subject: review('subjectaccessreviews', 'SubjectAccessReview', { user: 'u', resourceAttributes }),
  self: review('selfsubjectaccessreviews', 'SelfSubjectAccessReview', { resourceAttributes }),
  local: {
    ...namespaced('authorization.k8s.io', 'v1', 'localsubjectaccessreviews', 'LocalSubjectAccessReview', '', {
      metadata: { name: undefined },
      spec: { user: 'u', resourceAttributes: { ...resourceAttributes, namespace: 'default' } },
    }),
    volatile: true,
  },
};

const rows: Row[] = [
  ['valid', 'request', {}],
  ['valid with RSA', 'request', { '/spec/request': RSA }],
  ['valid with Ed25519', 'request', { '/spec/request': ED25519 }],
  ['not PEM', 'request', { '/spec/request': b64('x') }],
  ['a certificate', 'request', { '/spec/request': CERTIFICATE }],
  ['no usages', 'request', { '/spec/usages': [] }],
  ['bad usages', 'request', { '/spec/usages': ['foo', 'client auth', 'client auth'] }],
  ['no signer', 'request', { '/spec/signerName': '' }],
  ['bad signer', 'request', { '/spec/signerName': 'foo' }],
  ['bad signer domain', 'request', { '/spec/signerName': 'A/b' }],
  ['bad signer path', 'request', { '/spec/signerName': 'example.com/B' }],
  ['legacy signer', 'request', { '/spec/signerName': 'kubernetes.io/legacy-unknown' }],
  ['short lived', 'request', { '/spec/expirationSeconds': 5 }],
  ['approve', 'request', conditions(condition('Approved')), APPROVAL],
  ['approve and deny', 'request', conditions(condition('Approved'), condition('Denied')), APPROVAL],
  ['approve falsely', 'request', conditions(condition('Approved', 'False')), APPROVAL],
  ['approve twice', 'request', conditions(condition('Approved'), condition('Approved')), APPROVAL],
  ['approve by status', 'request', conditions(condition('Approved')), STATUS],
  ['odd conditions', 'request', conditions(condition('', ''), condition('Foo', 'Bar')), STATUS],
  ['issue', 'request', { '/status/certificate': CERTIFICATE }, STATUS],
  ['issue garbage', 'request', { '/status/certificate': b64('x') }, STATUS],
  ['issue a request', 'request', { '/status/certificate': ECDSA }, STATUS],
  ['issue with headers', 'request', { '/status/certificate': b64(decoded(CERTIFICATE).replace('-----\n', '-----\nA: b\n\n')) }, STATUS],
  ['reissue', 'issued', { '/status/certificate': b64(`${decoded(CERTIFICATE)}\n`) }, STATUS],
  ['update nothing', 'issued', {}, UPDATE],
  ['valid', 'subject', {}],
  ['nothing asked', 'subject', { '/spec': {} }],
  ['both asked', 'subject', { '/spec/nonResourceAttributes': { path: '/', verb: 'get' } }],
  [
    'bad selectors',
    'subject',
    {
      '/spec/resourceAttributes/fieldSelector': {},
      '/spec/resourceAttributes/labelSelector': { rawSelector: 'a', requirements: [{ key: 'a b', operator: 'In' }] },
    },
  ],
  [
    'bad field selector',
    'subject',
    { '/spec/resourceAttributes/fieldSelector': { requirements: [{ key: '', operator: 'Exists', values: ['x'] }] } },
  ],
  ['nothing asked', 'self', { '/spec': {} }],
  ['valid', 'local', {}],
  ['other namespace', 'local', { '/spec/resourceAttributes/namespace': 'x' }],
  ['not a resource', 'local', { '/spec': { user: 'u', nonResourceAttributes: { path: '/', verb: 'get' } } }],
];

export const certificates = caseSet(bases, rows);
