import type { Json, KubeObject } from '../../../kube/object.ts';
import type { RemoteApi } from './api-service.ts';
import type { EndpointGroup } from './service-address.ts';

export interface AvailableCondition {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

export const LOCAL: AvailableCondition = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
export const PASSED: AvailableCondition = { status: 'True', reason: 'Passed', message: 'all checks passed' };

/** Why a server cannot be reached, as far as objects tell; undefined when it is worth asking. */
export function serviceFinding(
  api: RemoteApi,
  service: KubeObject | undefined,
  endpoints: () => EndpointGroup[],
): AvailableCondition | undefined {
  const { namespace, name, port } = api.service;
  const where = `service/${name} in "${namespace}"`;
  if (!service) return unavailable('ServiceNotFound', `${where} is not present`);
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const found = (service.spec?.ports ?? []).find((candidate: Json) => candidate.port === port);
  if (!found) return unavailable('ServicePortError', `${where} is not listening on port ${port}`);
  const groups = endpoints();
  if (groups.length === 0) return unavailable('EndpointsNotFound', `cannot find endpointslices for ${where}`);
  const portName: string = found.name ?? '';
  const serves = (group: EndpointGroup) =>
    group.ready.length > 0 && group.ports.some((candidate) => candidate.name === portName && candidate.port !== undefined);
  if (groups.some(serves)) return undefined;
  return unavailable('MissingEndpoints', `endpointslices for ${where} have no addresses with port name "${portName}"`);
}

export function failedDiscovery(message: string): AvailableCondition {
  return unavailable('FailedDiscoveryCheck', message);
}

function unavailable(reason: string, message: string): AvailableCondition {
  return { status: 'False', reason, message };
}

/** Sets the condition in a draft. @returns whether that changed anything. The time moves only with the status. */
export function setAvailable(draft: KubeObject, condition: AvailableCondition, now: string): boolean {
  const conditions: Json[] = ((draft.status ??= {}).conditions ??= []);
  const present = conditions.find((candidate) => candidate.type === 'Available');
  if (!present) {
    conditions.push({ type: 'Available', status: condition.status, lastTransitionTime: now, ...textOf(condition) });
    return true;
  }
  if (present.status === condition.status && present.reason === condition.reason && present.message === condition.message) return false;
  if (present.status !== condition.status) present.lastTransitionTime = now;
  Object.assign(present, { status: condition.status, ...textOf(condition) });
  return true;
}

function textOf({ reason, message }: AvailableCondition): { reason: string; message: string } {
  return { reason, message };
}

/** What a server must answer to count as there. */
export function discoveryPath({ group, version }: Pick<RemoteApi, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}
