import type { RegistryCredential } from './credentials.ts';

/**
 * The credentials in a Secret for pulling images: `.dockerconfigjson` (`{"auths": {...}}`) or the older `.dockercfg` (the map itself).
 * Entries that say nothing usable are left out, as the kubelet does; text that is no such document is an error.
 */
export function credentialsFromDockerConfig(text: string, form: 'dockerconfigjson' | 'dockercfg'): RegistryCredential[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // Without the parser's own words, which quote the secret.
    throw new Error(`Cannot read the pull secret: it is no JSON; make it with \`kubectl create secret docker-registry\``, {
      cause: cause,
    });
  }
  const entries = form === 'dockerconfigjson' ? (value as { auths?: unknown } | null)?.auths : value;
  if (typeof entries !== 'object' || entries === null) return [];
  return Object.entries(entries).flatMap(([registry, entry]) => credentialOf(registry, entry));
}

function credentialOf(registry: string, entry: unknown): RegistryCredential[] {
  if (typeof entry !== 'object' || entry === null) return [];
  const { auth, username, password } = entry as Record<string, unknown>;
  if (typeof auth === 'string' && auth !== '') {
    const decoded = Buffer.from(auth.trim(), 'base64').toString('utf8').replace(/\0+$/, '');
    const colon = decoded.indexOf(':');
    return colon === -1 ? [] : [{ registry, username: decoded.slice(0, colon), password: decoded.slice(colon + 1) }];
  }
  if (typeof username !== 'string' || typeof password !== 'string') return [];
  return [{ registry, username, password }];
}
