import type { Json } from '../../../../kube/object.ts';

/**
 * Defaults that look at more than one object of the tree. They edit the decoded object and say whether they added fields: then it
 * is decoded once more, so that the same object always has its fields in the same order.
 */
export type Finish = (out: Json) => boolean;

/** Sets a field that is absent. */
function fill(object: Json, field: string, value: Json): boolean {
  if (object[field] !== undefined || value === undefined) return false;
  object[field] = value;
  return true;
}

/** Adds the entries of `defaults` that the record does not have yet. */
function fillRecord(object: Json, field: string, defaults: Json): boolean {
  let added = false;
  for (const key in defaults) {
    if (object[field]?.[key] !== undefined) continue;
    object[field] = { ...object[field], [key]: defaults[key] };
    added = true;
  }
  return added;
}

const CLIENT_AFFINITY = { clientIP: { timeoutSeconds: 10_800 } };

function finishService(service: Json): boolean {
  const { spec, status } = service;
  let added = false;
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = structuredClone(CLIENT_AFFINITY);
    added = true;
  }
  if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy;
  if (spec.type !== 'LoadBalancer') return added;
  for (const ingress of status.loadBalancer?.ingress ?? []) if (ingress.ip && fill(ingress, 'ipMode', 'VIP')) added = true;
  return added;
}

/** The old name of a field says what the new one says. */
function finishPodSpec(spec: Json): boolean {
  if (spec.serviceAccount !== spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
  return false;
}

/** Of a single address and a list that do not agree, old clients mean the single one. */
function finishPodStatus(status: Json): boolean {
  if (status.podIP && status.podIP !== status.podIPs?.[0].ip) status.podIPs = [{ ip: status.podIP }];
  return false;
}

function finishNodeSpec(spec: Json): boolean {
  if (spec.podCIDR && spec.podCIDR !== spec.podCIDRs?.[0]) spec.podCIDRs = [spec.podCIDR];
  return false;
}

/** Only on Pods, not on templates: a template keeps saying what its author said. */
function finishPod({ spec }: Json): boolean {
  let added = false;
  if (spec.terminationGracePeriodSeconds < 0) spec.terminationGracePeriodSeconds = 1;
  for (const container of spec.containers ?? []) added = finishContainer(container, spec.hostNetwork) || added;
  for (const container of spec.initContainers ?? []) added = finishContainer(container, spec.hostNetwork) || added;
  return added;
}

function finishContainer({ resources, ports = [] }: Json, hostNetwork: boolean): boolean {
  let added = false;
  // Requests that were not there at all end up where they belong, behind the limits.
  if (resources.limits && !resources.requests && !resources.claims) resources.requests = { ...resources.limits };
  else added = fillRecord(resources, 'requests', resources.limits);
  if (hostNetwork) for (const port of ports) added = fill(port, 'hostPort', port.containerPort) || added;
  return added;
}

/** `stringData` is a way to write `data`; it is never stored. */
function finishSecret(secret: Json): boolean {
  if (secret.stringData === undefined) return false;
  const written = Object.entries<string>(secret.stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  secret.data = { ...secret.data, ...Object.fromEntries(written) };
  delete secret.stringData;
  return true;
}

function finishReplicationController(controller: Json): boolean {
  const labels = controller.spec.template?.metadata?.labels;
  const filledSelector = fill(controller.spec, 'selector', labels);
  return fill(controller.metadata, 'labels', labels) || filledSelector;
}

const NAME_LABEL = 'kubernetes.io/metadata.name';

function finishNamespace(namespace: Json): boolean {
  const { name, labels } = namespace.metadata;
  if (!name || labels?.[NAME_LABEL] === name) return false;
  namespace.metadata.labels = { ...labels, [NAME_LABEL]: name };
  return true;
}

function finishLimitRangeItem(item: Json): boolean {
  if (item.type !== 'Container') return false;
  const added = [
    fillRecord(item, 'default', item.max),
    fillRecord(item, 'defaultRequest', item.default),
    fillRecord(item, 'defaultRequest', item.min),
  ];
  return added.includes(true);
}

function finishCustomResourceDefinition(definition: Json): boolean {
  const stored = definition.spec.versions?.find((version: Json) => version.storage);
  if (definition.status.storedVersions?.length > 0 || !stored) return false;
  definition.status.storedVersions = [stored.name];
  return true;
}

const SCALE_UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

function finishScalingBehavior(behavior: Json): boolean {
  const filledUp = fillRecord(behavior, 'scaleUp', SCALE_UP);
  return fillRecord(behavior, 'scaleDown', SCALE_DOWN) || filledUp;
}

export const FINISHING: Record<string, Finish> = {
  'io.k8s.api.core.v1.Service': finishService,
  'io.k8s.api.core.v1.NodeSpec': finishNodeSpec,
  'io.k8s.api.core.v1.Pod': finishPod,
  'io.k8s.api.core.v1.PodSpec': finishPodSpec,
  'io.k8s.api.core.v1.PodStatus': finishPodStatus,
  'io.k8s.api.core.v1.ReplicationController': finishReplicationController,
  'io.k8s.api.core.v1.Namespace': finishNamespace,
  'io.k8s.api.core.v1.Secret': finishSecret,
  'io.k8s.api.core.v1.LimitRangeItem': finishLimitRangeItem,
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior': finishScalingBehavior,
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition': finishCustomResourceDefinition,
};
