import { ageOf } from '../../../../kube/age.ts';
import { formatLabelSelector } from '../../../../kube/label-selector.ts';
import type { Json } from '../../../../kube/object.ts';
import { eventToCore } from '../conversion/events.ts';
import { conditionStatus, formatLabels, loadBalancerAddresses, shortList } from './cell-text.ts';
import type { Cells } from './columns.ts';

function size(record: Json): number {
  return Object.keys(record ?? {}).length;
}

function externalAddress({ spec, status }: Json): string {
  const given: string[] = spec.externalIPs ?? [];
  if (spec.type === 'ExternalName') return spec.externalName ?? '';
  const balancer = spec.type === 'LoadBalancer' ? loadBalancerAddresses(status) : '';
  const addresses = [...(balancer === '' ? [] : balancer.split(',')), ...given].join(',');
  return addresses || (spec.type === 'LoadBalancer' ? '<pending>' : '<none>');
}

function servicePorts({ spec }: Json): string {
  const ports = (spec.ports ?? []).map(({ port, nodePort, protocol }: Json) => `${nodePort ? `${port}:${nodePort}` : port}/${protocol}`);
  return ports.join(',') || '<none>';
}

function endpoints({ subsets = [] }: Json): string {
  const list: string[] = [];
  for (const { addresses = [], ports = [] } of subsets) {
    if (ports.length === 0) list.push(...addresses.map((address: Json) => address.ip));
    for (const { port } of ports) for (const { ip } of addresses) list.push(ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);
  }
  return shortList(list, '<none>');
}

function slicePorts({ ports = [] }: Json): string {
  return shortList(
    (ports ?? []).map(({ port, name }: Json) => (port === undefined || port === null ? (name ?? '*') : String(port))),
    '<unset>',
  );
}

const ROLE_PREFIX = 'node-role.kubernetes.io/';

function nodeRoles({ metadata }: Json): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries<string>(metadata.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length) roles.add(key.slice(ROLE_PREFIX.length));
    if (key === 'kubernetes.io/role' && value !== '') roles.add(value);
  }
  return [...roles].sort((a, b) => (a < b ? -1 : 1)).join(',') || '<none>';
}

function nodeStatus(node: Json): string {
  const ready = conditionStatus(node, 'Ready');
  const status = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady';
  return node.spec?.unschedulable ? `${status},SchedulingDisabled` : status;
}

function nodeAddress({ status }: Json, type: string): string {
  return status?.addresses?.find((address: Json) => address.type === type)?.address ?? '<none>';
}

const NODE: Cells = {
  Status: nodeStatus,
  Roles: nodeRoles,
  Version: ({ status }) => status?.nodeInfo?.kubeletVersion ?? '',
  'Internal-IP': (node) => nodeAddress(node, 'InternalIP'),
  'External-IP': (node) => nodeAddress(node, 'ExternalIP'),
  'OS-Image': ({ status }) => status?.nodeInfo?.osImage || '<unknown>',
  'Kernel-Version': ({ status }) => status?.nodeInfo?.kernelVersion || '<unknown>',
  'Container-Runtime': ({ status }) => status?.nodeInfo?.containerRuntimeVersion || '<unknown>',
};

function firstSeen(event: Json, now: Date): string {
  return ageOf(event.firstTimestamp ?? event.eventTime ?? undefined, now);
}

function lastSeen(event: Json, now: Date): string {
  if (event.series) return ageOf(event.series.lastObservedTime ?? undefined, now);
  return event.lastTimestamp ? ageOf(event.lastTimestamp, now) : firstSeen(event, now);
}

function eventObject({ involvedObject: { kind = '', name } }: Json): string {
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
}

function eventSource(event: Json): string {
  const component = event.source?.component || event.reportingComponent || '';
  const instance = event.source?.host || event.reportingInstance || '';
  return instance === '' ? component : `${component}, ${instance}`;
}

/** Written for the core form of Events; those of events.k8s.io are brought into it. */
const EVENT: Cells = {
  'Last Seen': lastSeen,
  Type: (event) => event.type ?? '',
  Reason: (event) => event.reason ?? '',
  Object: eventObject,
  Subobject: (event) => event.involvedObject.fieldPath ?? '',
  Source: eventSource,
  Message: (event) => (event.message ?? '').trim(),
  'First Seen': firstSeen,
  Count: (event) => event.series?.count ?? (event.count || 1),
};

const EVENT_OF_GROUP: Cells = Object.fromEntries(
  Object.entries(EVENT).map(([name, cell]) => [name, (event: Json, now: Date): Json => cell(eventToCore(event), now)]),
);

/** Usage of what is limited, in one column for requests and one for limits. */
function quotaUsage({ status }: Json, ofLimits: boolean): string {
  const names = Object.keys(status?.hard ?? {}).sort((a, b) => (a < b ? -1 : 1));
  return names
    .filter((name) => name.startsWith('limits.') === ofLimits)
    .map((name) => `${name}: ${status.used?.[name] ?? '0'}/${status.hard[name]}`)
    .join(', ');
}

function component({ conditions = [] }: Json): Json {
  return conditions.find((condition: Json) => condition.type === 'Healthy');
}

export const CORE_CELLS: Record<string, Cells> = {
  '/componentstatuses': {
    Status: (object) => (component(object) ? (component(object).status === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown'),
    Message: (object) => component(object)?.message ?? '',
    Error: (object) => component(object)?.error ?? '',
  },
  '/configmaps': { Data: ({ data, binaryData }) => size(data) + size(binaryData) },
  '/secrets': { Type: ({ type }) => type, Data: ({ data }) => size(data) },
  '/endpoints': { Endpoints: endpoints },
  '/events': EVENT,
  'events.k8s.io/events': EVENT_OF_GROUP,
  '/namespaces': { Status: ({ status }) => status?.phase ?? '' },
  '/nodes': NODE,
  '/resourcequotas': { Request: (quota) => quotaUsage(quota, false), Limit: (quota) => quotaUsage(quota, true) },
  '/services': {
    Type: ({ spec }) => spec.type,
    'Cluster-IP': ({ spec }) => spec.clusterIPs?.[0] ?? '<none>',
    'External-IP': externalAddress,
    'Port(s)': servicePorts,
    Selector: ({ spec }) => formatLabels(spec.selector),
  },
  'discovery.k8s.io/endpointslices': {
    AddressType: ({ addressType }) => addressType,
    Ports: slicePorts,
    Endpoints: (slice) =>
      shortList(
        (slice.endpoints ?? []).flatMap((endpoint: Json) => endpoint.addresses ?? []),
        '<unset>',
      ),
  },
  'networking.k8s.io/networkpolicies': { 'Pod-Selector': ({ spec }) => formatLabelSelector(spec.podSelector) },
};
