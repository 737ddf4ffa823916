import { badRequestError } from '../../../kube/status.ts';
import { ANONYMOUS_NAME, AUTHENTICATED, UNAUTHENTICATED } from './authentication/authenticated-group.ts';
import { headerValues, prefixedHeaders, type Headers } from './authentication/identity-headers.ts';
import { serviceAccountGroups, splitServiceAccountName } from './authentication/service-account-identity.ts';
import { forbiddenStatus } from './forbidden.ts';
import type { Attributes, Authorizer, UserInfo } from './user.ts';

const AUTHENTICATION_GROUP = 'authentication.k8s.io';

interface Wanted {
  kind: 'ServiceAccount' | 'User' | 'Group' | 'UserExtra' | 'UID';
  name: string;
  namespace?: string;
  extraKey?: string;
}

/**
 * The user that a request asks to act as, after checking that the requester may impersonate every part of it; undefined when
 * it asks for none. @throws StatusError BadRequest or Forbidden
 */
export function impersonate(requester: UserInfo, headers: Headers, authorizer: Pick<Authorizer, 'authorize'>): UserInfo | undefined {
  const wanted = wantedParts(headers);
  if (wanted.length === 0) return undefined;
  for (const part of wanted) {
    const attributes = attributesOf(requester, part);
    const decision = authorizer.authorize(attributes);
    if (!decision.allowed) throw forbiddenStatus(attributes, decision.reason);
  }
  return userOf(wanted);
}

function wantedParts(headers: Headers): Wanted[] {
  const wanted: Wanted[] = [];
  const userName = headerValues(headers, 'impersonate-user')[0] ?? '';
  if (userName !== '') {
    const account = splitServiceAccountName(userName);
    wanted.push(account ? { kind: 'ServiceAccount', ...account } : { kind: 'User', name: userName });
  }
  for (const name of headerValues(headers, 'impersonate-group')) wanted.push({ kind: 'Group', name });
  for (const [extraKey, values] of Object.entries(prefixedHeaders(headers, 'impersonate-extra-'))) {
    for (const name of values) wanted.push({ kind: 'UserExtra', name, extraKey });
  }
  const uid = headerValues(headers, 'impersonate-uid')[0] ?? '';
  if (uid !== '') wanted.push({ kind: 'UID', name: uid });
  if (wanted.length > 0 && userName === '') {
    throw badRequestError(`requested [${wanted.map(printed).join(' ')}] without impersonating a user`);
  }
  return wanted;
}

/** An ObjectReference as Go prints the struct: kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath. */
function printed({ kind, namespace = '', name, extraKey = '' }: Wanted): string {
  const apiVersion = kind === 'UserExtra' || kind === 'UID' ? `${AUTHENTICATION_GROUP}/v1` : '';
  return `{${[kind, namespace, name, '', apiVersion, '', extraKey].join(' ')}}`;
}

const RESOURCES: Record<Wanted['kind'], { group: string; version: string; resource: string }> = {
  ServiceAccount: { group: '', version: '', resource: 'serviceaccounts' },
  User: { group: '', version: '', resource: 'users' },
  Group: { group: '', version: '', resource: 'groups' },
  UserExtra: { group: AUTHENTICATION_GROUP, version: 'v1', resource: 'userextras' },
  UID: { group: AUTHENTICATION_GROUP, version: 'v1', resource: 'uids' },
};

function attributesOf(user: UserInfo, { kind, name, namespace, extraKey }: Wanted): Attributes {
  return { user, verb: 'impersonate', ...RESOURCES[kind], name, namespace, subresource: extraKey };
}

function userOf([subject, ...rest]: Wanted[]): UserInfo {
  const isAccount = subject.kind === 'ServiceAccount';
  const name = isAccount ? `system:serviceaccount:${subject.namespace}:${subject.name}` : subject.name;
  const named = rest.filter(({ kind }) => kind === 'Group').map((group) => group.name);
  // Groups that are given are the whole truth; without them a ServiceAccount has those that all of its kind have.
  const groups = named.length === 0 && isAccount ? serviceAccountGroups(subject.namespace!) : named;
  const user: UserInfo = { name, groups: withStandardGroup(name, groups) };
  const uid = rest.find(({ kind }) => kind === 'UID');
  if (uid) user.uid = uid.name;
  const extra = new Map<string, string[]>();
  for (const { kind, extraKey, name: value } of rest) {
    if (kind === 'UserExtra') extra.set(extraKey!, [...(extra.get(extraKey!) ?? []), value]);
  }
  if (extra.size > 0) user.extra = Object.fromEntries(extra);
  return user;
}

function withStandardGroup(name: string, groups: string[]): string[] {
  if (name === ANONYMOUS_NAME) return groups.includes(UNAUTHENTICATED) ? groups : [...groups, UNAUTHENTICATED];
  return groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED) ? groups : [...groups, AUTHENTICATED];
}
