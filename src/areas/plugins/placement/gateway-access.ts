import { GATEWAY_ACCESS_LABEL, GATEWAY_REPORTS_NAMESPACE, PLACED_FROM_LABEL } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Client } from '../../../client/client.ts';
import { ClusterRole, Namespace, Secret, ServiceAccount } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Informer } from '../../../runtime/informer/informer.ts';
import { FIELD_MANAGER } from '../installation/plugin-objects.ts';
import type { TenantHome } from './tenant-home.ts';

const ACCOUNT = { namespace: 'kube-system', name: 'tenantry-plugin-gateway' };
const ROLE = 'tenantry:plugin-gateway';
const RBAC = 'rbac.authorization.k8s.io';
const LIFETIME_S = 24 * 3600;
/** The annotations of its Secret: whom a token is of, and until when it is good. */
const ACCOUNT_UID = 'plugins.tenantry.dev/account-uid';
const EXPIRES = 'plugins.tenantry.dev/expires';

/** Of the namespace of one plugin inside: gateways may connect to its Pods. */
export function gatewayBinding(): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: ROLE },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: ROLE },
    subjects: [{ kind: 'ServiceAccount', ...ACCOUNT }],
  };
}

/** How gateways reach Pods in tenants' clusters: an account there that may connect to Pods of plugins and nothing else. */
export class GatewayAccess {
  readonly #client: Client;
  readonly #secrets: Informer;
  readonly #clock: Clock;

  constructor(client: Client, secrets: Informer, clock: Clock) {
    this.#client = client;
    this.#secrets = secrets;
    this.#clock = clock;
  }

  async keep(tenant: string, { client, endpoint, authorityPem }: TenantHome): Promise<void> {
    const owner = { fieldManager: FIELD_MANAGER, force: true };
    const labels = { [PLACED_FROM_LABEL]: tenant };
    const rules = [{ apiGroups: [''], resources: ['pods/portforward'], verbs: ['get', 'create'] }];
    await client.resource<KubeObject>(ClusterRole, undefined).apply({ metadata: { name: ROLE, labels }, rules }, owner);
    const account = await client
      .resource<KubeObject>(ServiceAccount, ACCOUNT.namespace)
      .apply({ metadata: { ...ACCOUNT, labels }, automountServiceAccountToken: false }, owner);
    const where = { server: encode(endpoint), 'ca.crt': encode(authorityPem) };
    const existing = this.#secrets.find(GATEWAY_REPORTS_NAMESPACE, nameOf(tenant));
    if (existing && isGood(existing, where, account.metadata.uid!, this.#clock.now())) return;
    const { token, expirationTimestamp } = await requestToken(client);
    const annotations = { [ACCOUNT_UID]: account.metadata.uid!, [EXPIRES]: expirationTimestamp };
    const metadata = {
      name: nameOf(tenant),
      namespace: GATEWAY_REPORTS_NAMESPACE,
      labels: { [GATEWAY_ACCESS_LABEL]: tenant },
      annotations,
    };
    const data = { ...where, token: encode(token) };
    // Whoever runs gateways makes it too; which of us comes first is not said.
    await this.#client.resource(Namespace).apply({ metadata: { name: GATEWAY_REPORTS_NAMESPACE } }, owner);
    await this.#client.resource<KubeObject>(Secret, GATEWAY_REPORTS_NAMESPACE).apply({ metadata, type: 'Opaque', data }, owner);
  }

  async remove(tenant: string): Promise<void> {
    if (this.#secrets.find(GATEWAY_REPORTS_NAMESPACE, nameOf(tenant)) === undefined) return;
    try {
      await this.#client.resource(Secret, GATEWAY_REPORTS_NAMESPACE).delete(nameOf(tenant));
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
}

function nameOf(tenant: string): string {
  return `placed-${tenant}`;
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

function isGood({ metadata, data }: KubeObject, where: Record<string, string>, account: string, now: number): boolean {
  const left = Date.parse(metadata.annotations?.[EXPIRES] ?? '') - now;
  const isSame = Object.entries(where).every(([key, value]) => data?.[key] === value);
  return isSame && metadata.annotations?.[ACCOUNT_UID] === account && left > (LIFETIME_S * 1000) / 2;
}

async function requestToken(client: Client): Promise<{ token: string; expirationTimestamp: string }> {
  const answer = await client.request<{ status: { token: string; expirationTimestamp: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${ACCOUNT.namespace}/serviceaccounts/${ACCOUNT.name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: LIFETIME_S } },
  });
  return answer.status;
}
