import { BOOL, DYN, INT, listOf, mapOf, STRING, struct, TIMESTAMP, type CelType } from '../../cel/types.ts';

/** The types of the variables that Kubernetes gives to admission expressions. */

function object(name: string, fields: Record<string, CelType>): CelType {
  return struct(name, { find: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined) });
}

const STRINGS = listOf(STRING);
const STRING_MAP = mapOf(STRING, STRING);
const KIND = object('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const RESOURCE = object('kubernetes.GroupVersionResource', { group: STRING, version: STRING, resource: STRING });
const USER = object('kubernetes.UserInfo', { username: STRING, uid: STRING, groups: STRINGS, extra: mapOf(STRING, STRINGS) });

export const ADMISSION_REQUEST = object('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
});

const CONDITION = object('kubernetes.NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
});

const NAMESPACE_METADATA = object('kubernetes.NamespaceMetadata', {
  name: STRING,
  generateName: STRING,
  namespace: STRING,
  labels: STRING_MAP,
  annotations: STRING_MAP,
  UID: STRING,
  creationTimestamp: TIMESTAMP,
  deletionGracePeriodSeconds: INT,
  deletionTimestamp: TIMESTAMP,
  generation: INT,
  resourceVersion: STRING,
  finalizers: STRINGS,
});

export const NAMESPACE = object('kubernetes.Namespace', {
  metadata: NAMESPACE_METADATA,
  spec: object('kubernetes.NamespaceSpec', { finalizers: STRINGS }),
  status: object('kubernetes.NamespaceStatus', { conditions: listOf(CONDITION), phase: STRING }),
});

/** Of `variables`: exactly those that are known where the expression stands. */
export function variablesType(variables: ReadonlyMap<string, CelType>): CelType {
  return struct('kubernetes.variables', { find: (name) => variables.get(name) });
}
