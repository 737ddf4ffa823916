import { quote } from '../../../../kube/go-text.ts';
import type { UserInfo } from '../user.ts';

/** Whom a token stands for, and what would make it stand for nobody. */
export interface TokenIdentity {
  user: UserInfo;
  audiences: string[];
  /** Milliseconds; after this it must be looked at again. */
  expires?: number;
  /** The objects that must stay as they are. */
  dependsOn: Dependency[];
}

export interface Dependency {
  resource: keyof typeof CORE;
  uid: string;
}

/** One kind of bearer token. */
export interface TokenAuthenticator {
  /** Undefined when the token is not of this kind. @throws Error, in Kubernetes' words, when it is and must be refused. */
  authenticate(token: string, audiences: readonly string[]): TokenIdentity | undefined;
}

export const CORE = {
  serviceAccounts: { group: '', resource: 'serviceaccounts' },
  secrets: { group: '', resource: 'secrets' },
  pods: { group: '', resource: 'pods' },
  nodes: { group: '', resource: 'nodes' },
} as const;

export function intersect(some: readonly string[], others: readonly string[]): string[] {
  return some.filter((each) => others.includes(each));
}

/** `["a" "b"]`: how Go prints a list of strings with %q. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map(quote).join(' ')}]`;
}
