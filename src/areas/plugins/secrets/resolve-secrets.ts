import { createHash } from 'node:crypto';
import { secretPathOf } from '../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { Target } from '../installation/model/target.ts';
import type { SecretBackend } from './secret-backend.ts';

export interface ResolvedSecrets {
  /** The entries of the Secret that the plugin gets, in base64. */
  data: Record<string, string>;
  /** Which entry is which file below the folder of secrets. */
  items: { key: string; path: string }[];
  /** Variables of the environment, by the entry that they are. */
  env: { name: string; key: string }[];
  /** Paths, with the property where only that is not there. */
  missing: string[];
}

/**
 * What a plugin's secrets are. One with a property is the file `<name>`, one without is a folder `<name>` with a file per property. Entries
 * carry a hash of what they stand for, so that two versions that mean different things by one name can share the Secret of their namespace.
 */
export function resolveSecrets({ manifest, plugin, tenant }: Target, backend: Pick<SecretBackend, 'read'>): ResolvedSecrets {
  const resolved: ResolvedSecrets = { data: {}, items: [], env: [], missing: [] };
  for (const { name, path = name, property, env, optional } of manifest.spec.secrets ?? []) {
    const at = secretPathOf(plugin, tenant, path);
    const stored = backend.read(at);
    const properties = Object.keys(stored ?? {}).sort();
    const entry = `${name}.${hashOf([path, property])}`;
    if (stored === undefined || (property !== undefined && !Object.hasOwn(stored, property))) {
      if (!optional) resolved.missing.push(stored === undefined ? at : `${at} (property "${property}")`);
    } else if (property !== undefined) add(resolved, entry, name, stored[property], env);
    else
      for (const each of properties)
        add(resolved, keyOf(entry, each), `${name}/${each}`, stored[each], properties.length === 1 ? env : undefined);
    if (stored !== undefined && property === undefined && env !== undefined && properties.length > 1) {
      resolved.missing.push(`${at} (a variable needs one property; name it in "${name}")`);
    }
  }
  return resolved;
}

function add(resolved: ResolvedSecrets, key: string, path: string, value: string, env: string | undefined): void {
  resolved.data[key] = value;
  resolved.items.push({ key, path });
  if (env !== undefined) resolved.env.push({ name: env, key });
}

/** As long as the key of a Secret may be. */
const MAX_KEY = 253;

function keyOf(entry: string, property: string): string {
  const plain = `${entry}.${property}`;
  return plain.length <= MAX_KEY ? plain : `${entry}.${hashOf(property)}`;
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);
}
