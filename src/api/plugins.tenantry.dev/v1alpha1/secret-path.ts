import { createHash } from 'node:crypto';
import { PLUGIN_NAME } from './names.ts';

/** A secret of a plugin in a tenant: `adapstory/plugins/<plugin>/<tenant>/<path>`. */
export interface SecretPlace {
  plugin: string;
  tenant: string;
  path: string;
}

const ROOT = 'adapstory/plugins/';
const TENANT = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** No part begins with a dot, so none leads up; none is empty; none means something to a shell, an HTTP path or a policy of Vault. */
const PATH = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;
const MAX_PATH = 255;
const PROPERTY = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,252}$/;

/** What a path says; undefined when it is none. */
export function readSecretPath(text: string): SecretPlace | undefined {
  if (!text.startsWith(ROOT)) return undefined;
  const [plugin, tenant, ...rest] = text.slice(ROOT.length).split('/');
  const place = { plugin, tenant: tenant ?? '', path: rest.join('/') };
  return isSecretPlace(place) ? place : undefined;
}

export function isSecretPlace({ plugin, tenant, path }: SecretPlace): boolean {
  const isNamed = plugin.length <= 63 && new RegExp(PLUGIN_NAME).test(plugin) && TENANT.test(tenant);
  return isNamed && path.length <= MAX_PATH && PATH.test(path);
}

/** What a property may be called: the key of a Secret that is no hidden file. */
export function isSecretProperty(name: string): boolean {
  return PROPERTY.test(name);
}

/** The Secret of the embedded store that holds a path. A hash, because paths are longer and richer than names. */
export function storedSecretName(path: string): string {
  return `plugin-secret-${createHash('sha256').update(path).digest('hex').slice(0, 24)}`;
}
