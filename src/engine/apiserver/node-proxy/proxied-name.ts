import { badRequestError } from '../../../kube/status.ts';

/** `name`, `name:port` or `scheme:name:port`, as the name of what is proxied to. */
export interface ProxiedName {
  scheme: 'http' | 'https' | '';
  name: string;
  port: string;
}

/** @throws StatusError */
export function parseProxiedName(kind: 'pod' | 'service' | 'node', id: string): ProxiedName {
  const parts = id.split(':');
  const [scheme, name, port] = parts.length === 3 ? parts : ['', parts[0], parts[1] ?? ''];
  if (parts.length > 3 || name === '' || (scheme !== '' && scheme !== 'http' && scheme !== 'https')) {
    throw badRequestError(`invalid ${kind} request ${JSON.stringify(id)}`);
  }
  return { scheme, name, port };
}
