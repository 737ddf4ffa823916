import { quote } from '../../../kube/go-text.ts';
import { failure, forbiddenError, type StatusError } from '../../../kube/status.ts';
import type { Attributes } from './user.ts';

const HTML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The standard sentence of a denial. Quotes are kept, what a browser could take for markup is not. */
export function forbiddenMessage(attributes: Attributes): string {
  return sentence(attributes).replace(/[&<>]/g, (character) => HTML[character]);
}

function sentence({ user, verb, path, group = '', resource = '', subresource = '', namespace = '' }: Attributes): string {
  const who = `User ${quote(user.name)} cannot ${verb}`;
  if (path !== undefined) return `${who} path ${quote(path)}`;
  const what = quote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`;
  return `${who} resource ${what} in API group ${quote(group)} ${where}`;
}

/** 403 for a request that authorization denied, with the authorizer's reason after the sentence. */
export function forbiddenStatus(attributes: Attributes, reason: string): StatusError {
  const message = forbiddenMessage(attributes);
  const text = reason === '' ? message : `${message}: ${reason}`;
  if (attributes.path !== undefined) return failure('Forbidden', `forbidden: ${text}`, {});
  return forbiddenError({ group: attributes.group ?? '', resource: attributes.resource ?? '' }, attributes.name ?? '', text);
}
