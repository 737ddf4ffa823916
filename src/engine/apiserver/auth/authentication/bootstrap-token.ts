import type { KubeObject } from '../../../../kube/object.ts';
import type { ObjectReader } from '../../registry/objects.ts';
import { isSame } from './legacy-token.ts';
import { CORE, intersect, type TokenAuthenticator, type TokenIdentity } from './token-authenticator.ts';

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

export interface BootstrapTokenOptions {
  reader: ObjectReader;
  apiAudiences: readonly string[];
  now(): number;
}

/** `<id>.<secret>` from a Secret of kube-system: what a machine shows that has no identity yet. */
export class BootstrapTokenAuthenticator implements TokenAuthenticator {
  readonly #options: BootstrapTokenOptions;

  constructor(options: BootstrapTokenOptions) {
    this.#options = options;
  }

  authenticate(token: string, requested: readonly string[]): TokenIdentity | undefined {
    const match = TOKEN.exec(token);
    const audiences = match ? intersect(this.#options.apiAudiences, requested) : [];
    if (!match || audiences.length === 0) return undefined;
    const [, id, secretPart] = match;
    const secret = this.#options.reader.get(CORE.secrets, 'kube-system', `bootstrap-token-${id}`);
    if (!secret || !this.#isUsable(secret, id, secretPart)) return undefined;
    const groups = groupsOf(secret);
    if (!groups) return undefined;
    const expiration = dataOf(secret, 'expiration');
    return {
      user: { name: `system:bootstrap:${id}`, groups: [...groups, 'system:authenticated'] },
      audiences,
      expires: expiration === '' ? undefined : Date.parse(expiration),
      dependsOn: [{ resource: 'secrets', uid: secret.metadata.uid! }],
    };
  }

  #isUsable(secret: KubeObject, id: string, secretPart: string): boolean {
    return (
      secret.metadata.deletionTimestamp === undefined &&
      secret.type === 'bootstrap.kubernetes.io/token' &&
      isSame(Buffer.from(dataOf(secret, 'token-secret')), Buffer.from(secretPart)) &&
      dataOf(secret, 'token-id') === id &&
      !this.#hasExpired(dataOf(secret, 'expiration')) &&
      dataOf(secret, 'usage-bootstrap-authentication') === 'true'
    );
  }

  /** A date that cannot be read has passed. */
  #hasExpired(expiration: string): boolean {
    if (expiration === '') return false;
    return !RFC3339.test(expiration) || !(Date.parse(expiration) > this.#options.now());
  }
}

function dataOf(secret: KubeObject, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
}

/** Undefined when a group is not one that a bootstrap token may give. */
function groupsOf(secret: KubeObject): string[] | undefined {
  const extra = dataOf(secret, 'auth-extra-groups');
  const named = extra === '' ? [] : extra.split(',');
  if (!named.every((group) => GROUP.test(group))) return undefined;
  return [...new Set(['system:bootstrappers', ...named])].sort();
}
