/** Who a request is from, as authentication found it. */
export interface UserInfo {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

export const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** May do everything: the certificate of the admin kubeconfig, and the engine itself. */
export const SUPERUSER_GROUP = 'system:masters';

export interface Credentials {
  /** Client certificate of the connection, if its chain was verified against a CA that we trust for clients. */
  certificate?: { commonName: string; organizations: string[]; uid?: string; raw: Uint8Array };
  /** Why the certificate that the client showed was not believed. */
  badCertificate?: string;
  /** Set when the connection's certificate was verified against the front-proxy CA. */
  frontProxyCommonName?: string;
  authorization?: string;
  /** Lower-case header names; for X-Remote-* and Impersonate-*. */
  headers: Record<string, string | string[] | undefined>;
}

export interface Authenticator {
  /** Resolves to the user, to undefined when no credential was given, or throws StatusError Unauthorized for a bad one. */
  authenticate(credentials: Credentials): Promise<UserInfo | undefined> | UserInfo | undefined;
}

export interface Attributes {
  user: UserInfo;
  /** get, list, watch, create, update, patch, delete, deletecollection, impersonate, bind, escalate, use, approve, sign ... */
  verb: string;
  /** For resource requests. */
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  /** Of a list or watch, as it was asked. */
  fieldSelector?: string;
  /** For requests such as /healthz. */
  path?: string;
}

export interface Decision {
  allowed: boolean;
  /** Why, in the words of the authorizer; shown to the user after the standard sentence. */
  reason: string;
}

export interface Authorizer {
  /** Synchronous: rules are in memory, and every request passes here. */
  authorize(attributes: Attributes): Decision;
  /** The rules that apply to a user in a namespace, for SelfSubjectRulesReview and escalation checks. */
  rulesFor(user: UserInfo, namespace: string): PolicyRule[];
}

export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}
