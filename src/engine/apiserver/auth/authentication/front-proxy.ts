import type { Credentials, UserInfo } from '../user.ts';
import { withAuthenticatedGroup } from './authenticated-group.ts';
import { headerValues, prefixedHeaders } from './identity-headers.ts';

/** As kube-apiserver's --requestheader-* flags; also published in kube-system/extension-apiserver-authentication. */
export const FRONT_PROXY_HEADERS = {
  user: 'x-remote-user',
  uid: 'x-remote-uid',
  group: 'x-remote-group',
  extraPrefix: 'x-remote-extra-',
} as const;

/** A proxy that we trust says who its client is. Undefined when it says nothing. @throws Error when its certificate is not on the list */
export function authenticateFrontProxy(credentials: Credentials, allowedNames: readonly string[]): UserInfo | undefined {
  const { frontProxyCommonName, headers } = credentials;
  if (frontProxyCommonName === undefined) return undefined;
  if (allowedNames.length > 0 && !allowedNames.includes(frontProxyCommonName)) {
    throw new Error(`x509: subject with cn=${frontProxyCommonName} is not in the allowed list`);
  }
  const name = headerValues(headers, FRONT_PROXY_HEADERS.user)[0] ?? '';
  if (name === '') return undefined;
  const groups = headerValues(headers, FRONT_PROXY_HEADERS.group).filter((group) => group !== '');
  const user: UserInfo = { name, groups: withAuthenticatedGroup(name, groups) };
  const uid = headerValues(headers, FRONT_PROXY_HEADERS.uid)[0];
  if (uid) user.uid = uid;
  const extra = prefixedHeaders(headers, FRONT_PROXY_HEADERS.extraPrefix);
  if (Object.keys(extra).length > 0) user.extra = extra;
  return user;
}
