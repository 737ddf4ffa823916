import type { Json, KubeObject } from '../../../../kube/object.ts';
import { TEST_CA } from './certificates.ts';

export const CA_BUNDLE = Buffer.from(TEST_CA).toString('base64');

/** A webhook for tests: all pods, on create, in the service hook of the namespace team. */
export function aWebhook(changes: Json = {}): Json {
  return {
    name: 'check.example.com',
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    clientConfig: { service: { namespace: 'team', name: 'hook', path: '/check' }, caBundle: CA_BUNDLE },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...changes,
  };
}

let revision = 0;

export function aConfiguration(kind: 'Mutating' | 'Validating', name: string, ...webhooks: Json[]): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name, resourceVersion: String(++revision) },
    webhooks,
  };
}
