import { PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';

/** How the External Secrets Operator reaches the secrets of plugins. */
export interface ExternalSettings {
  /** `spec.provider` of the SecretStore in the namespace of a plugin. */
  provider(of: { namespace: string; tenant: string; plugin: string }): Json;
  /** What a path is called there. */
  keyOf(path: string): string;
  refreshInterval: string;
  /** The same for the store, which counts in seconds: a backend that was down is looked at again as often. */
  refreshSeconds: number;
}

/** The account that SecretStores log in as, one in the namespace of each plugin; no Pod has its token. */
export const SECRETS_ACCOUNT = 'plugin-secrets-reader';

const DURATION = /^([0-9]+(s|m|h))+$/;

/** What the platform's settings say about secrets; undefined when the embedded store is used. @throws when they cannot be understood */
export function externalSettings(settings: KubeObject | undefined): ExternalSettings | undefined {
  const read = (key: string): string | undefined => {
    const encoded = settings?.data?.[key] as string | undefined;
    const value = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString().trim();
    return value === '' ? undefined : value;
  };
  const backend = read('secrets') ?? 'stored';
  if (backend === 'stored') return undefined;
  if (backend !== 'external-secrets') throw wrong('secrets', 'is neither "stored" nor "external-secrets"');
  const refreshInterval = read('secrets-refresh') ?? '1m';
  if (!DURATION.test(refreshInterval)) throw wrong('secrets-refresh', 'is no duration such as 1m or 30s');
  const separator = read('secrets-separator');
  // Names have dashes in them: with one between them, plugin "c" of tenant "a-b" would share a key with plugin "c-a" of tenant "b".
  if (separator !== undefined && !/^[_.]{1,2}$/.test(separator)) throw wrong('secrets-separator', 'is neither _ nor .');
  const keyOf = (path: string) => (separator === undefined ? path : path.replaceAll('/', separator));
  return { provider: providerOf(read), keyOf, refreshInterval, refreshSeconds: secondsOf(refreshInterval) };
}

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600 };

function secondsOf(duration: string): number {
  return [...duration.matchAll(/(\d+)([smh])/g)].reduce((sum, [, amount, unit]) => sum + Number(amount) * SECONDS[unit], 0);
}

function providerOf(read: (key: string) => string | undefined): ExternalSettings['provider'] {
  const template = read('secrets-provider');
  if (template !== undefined) {
    const parsed = parsedProvider(template);
    return (of) => filledIn(parsed, of);
  }
  const server = read('vault-server');
  if (server === undefined || !/^https?:\/\/[^\s/]+/.test(server)) {
    throw wrong('vault-server', 'is no address; write https://host:8200, or another provider of External Secrets into secrets-provider');
  }
  const [path, mountPath] = [read('vault-mount') ?? 'secret', read('vault-auth-mount') ?? 'kubernetes'];
  const [namespace, authority] = [read('vault-namespace'), read('vault-ca')];
  return (of) => ({
    vault: {
      server,
      path,
      version: 'v2',
      ...(namespace === undefined ? {} : { namespace }),
      ...(authority === undefined ? {} : { caBundle: Buffer.from(authority).toString('base64') }),
      // A role per namespace, bound to the account there: whoever writes into one namespace reads nothing of another.
      auth: { kubernetes: { mountPath, role: of.namespace, serviceAccountRef: { name: SECRETS_ACCOUNT } } },
    },
  });
}

function parsedProvider(template: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(template);
  } catch {
    // What is wrong may be a credential: not a word of it.
    throw wrong('secrets-provider', 'is no JSON');
  }
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1) {
    throw wrong('secrets-provider', 'is no object with one provider');
  }
  return value as Json;
}

/** `{namespace}`, `{tenant}` and `{plugin}` wherever there is text. Names have no signs that mean something in JSON or YAML. */
function filledIn(value: Json, of: Record<string, string>): Json {
  if (typeof value === 'string') return value.replaceAll(/\{(namespace|tenant|plugin)\}/g, (_, name: string) => of[name]);
  if (Array.isArray(value)) return value.map((each) => filledIn(each, of)) as Json;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filledIn(inner as Json, of)])) as Json;
}

function wrong(key: string, state: string): Error {
  return new Error(`Cannot reach the secrets of plugins: ${key} of the Secret ${PLATFORM_NAMESPACE}/${PLATFORM_SETTINGS} ${state}`);
}
