import type { KubeObject } from '../../kube/object.ts';

/** Where the product's webhooks are registered to live. On the embedded engine it is a name for functions of the same process. */
export const ADMISSION_SERVICE = { namespace: 'tenantry-system', name: 'tenantry-admission' };

/** One rule of admission: what it looks at. What it decides is its handler, found by its path. */
export interface WebhookRule {
  /** Quoted in every refusal: `admission webhook "<name>" denied the request`. */
  name: string;
  type: 'Validating' | 'Mutating';
  path: string;
  rules: { apiGroups: string[]; apiVersions: string[]; resources: string[]; operations: string[]; scope?: string }[];
  failurePolicy: 'Fail' | 'Ignore';
  timeoutSeconds?: number;
  namespaceSelector?: object;
  matchConditions?: { name: string; expression: string }[];
  /** It remembers what it admitted; not for a dry run. */
  reserves?: boolean;
}

/** Where the API server finds admission when it is not a function of its own process. */
export interface WebhookAddress {
  /** PEM of whom the certificate there is from. */
  authority: string;
  /** Absent: the Service. */
  url?: string;
}

/** The webhook configurations of a set of rules: one per type, named after the set. */
export function webhookConfigurations(set: string, rules: readonly WebhookRule[], address?: WebhookAddress): KubeObject[] {
  return (['Mutating', 'Validating'] as const).flatMap((type) => {
    const webhooks = rules.filter((rule) => rule.type === type).map((rule) => webhook(rule, address));
    if (webhooks.length === 0) return [];
    const kind = `${type}WebhookConfiguration`;
    return [{ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: set }, webhooks }];
  });
}

function webhook(rule: WebhookRule, address: WebhookAddress | undefined) {
  const { name, path, rules, failurePolicy, timeoutSeconds = 5, namespaceSelector, matchConditions } = rule;
  return {
    name,
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(path, address),
    rules,
    failurePolicy,
    matchPolicy: 'Equivalent',
    sideEffects: rule.reserves ? 'NoneOnDryRun' : 'None',
    timeoutSeconds,
    ...(namespaceSelector ? { namespaceSelector } : {}),
    ...(matchConditions ? { matchConditions } : {}),
  };
}

function clientConfig(path: string, address: WebhookAddress | undefined): object {
  const caBundle = address && Buffer.from(address.authority).toString('base64');
  const target =
    address?.url === undefined ? { service: { ...ADMISSION_SERVICE, path, port: 443 } } : { url: address.url.replace(/\/$/, '') + path };
  return { ...target, ...(caBundle === undefined ? {} : { caBundle }) };
}
