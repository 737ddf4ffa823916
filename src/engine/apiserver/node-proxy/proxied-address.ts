import type { Json, KubeObject } from '../../../kube/object.ts';
import { badRequestError, failure, notFoundError } from '../../../kube/status.ts';
import { resolveService } from '../aggregator/service-address.ts';
import type { RequestInfo } from '../chain/request-info.ts';
import type { ObjectReader } from '../registry/objects.ts';
import type { Destination } from '../outbound/outbound.ts';
import type { NodeEndpoint } from './node-endpoint.ts';
import { findNode, findPod } from './pod-location.ts';
import { parseProxiedName } from './proxied-name.ts';

/** Where a proxied request goes. */
export type ProxiedAddress =
  | ({ kind: 'address'; secure: boolean } & Destination)
  /** A Pod on the machine's loopback is reached through its node, which knows which addresses are its own. */
  | { kind: 'pod'; secure: boolean; pod: KubeObject; port: number }
  | { kind: 'node'; node: NodeEndpoint };

const SERVICES = { group: '', resource: 'services' };
const PODS = { group: '', resource: 'pods' };

/** @throws StatusError in Kubernetes' words. */
export function proxiedAddress(reader: ObjectReader, { resource, namespace, name }: RequestInfo, random: () => number): ProxiedAddress {
  if (resource === 'pods') return podAddress(reader, namespace, name);
  if (resource === 'services') return serviceAddress(reader, namespace, name, random);
  return nodeAddress(reader, name);
}

function podAddress(reader: ObjectReader, namespace: string, id: string): ProxiedAddress {
  const asked = parseProxiedName('pod', id);
  const pod = findPod(reader, namespace, asked.name);
  const secure = asked.scheme === 'https';
  const port = podPort(pod, asked.port) ?? (secure ? 443 : 80);
  const host: string = pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? '';
  if (isLoopback(host) && pod.spec?.nodeName) return { kind: 'pod', secure, pod, port };
  return { kind: 'address', secure, host: allowed(host), port, pod: { namespace, name: asked.name } };
}

/** By number or name; the first that any container declares when none is given. */
function podPort(pod: KubeObject, asked: string): number | undefined {
  const declared: Json[] = (pod.spec?.containers ?? []).flatMap((container: Json) => container.ports ?? []);
  if (asked === '') return declared[0]?.containerPort;
  const port = /^\d+$/.test(asked) ? Number(asked) : declared.find((candidate) => candidate.name === asked)?.containerPort;
  if (port === undefined || port < 1 || port > 0xffff) throw badRequestError(`invalid port ${JSON.stringify(asked)}`);
  return port;
}

function serviceAddress(reader: ObjectReader, namespace: string, id: string, random: () => number): ProxiedAddress {
  const asked = parseProxiedName('service', id);
  const service = reader.get(SERVICES, namespace, asked.name);
  if (service === undefined) throw notFoundError(SERVICES, asked.name);
  const ports: Json[] = service.spec?.ports ?? [];
  const port =
    asked.port === ''
      ? ports.length === 1
        ? ports[0]
        : ports.find((candidate) => !candidate.name)
      : ports.find((candidate) => candidate.name === asked.port || String(candidate.port) === asked.port);
  if (port === undefined)
    throw failure('ServiceUnavailable', `no service port ${JSON.stringify(asked.port)} found for service "${asked.name}"`);
  const secure = asked.scheme === 'https';
  const address = resolveService(reader, { namespace, name: asked.name, port: port.port }, random);
  if (isLoopback(address.host)) {
    const pod = reader.list(PODS, namespace).find((candidate) => candidate.status?.podIP === address.host);
    if (pod !== undefined) return { kind: 'pod', secure, pod, port: address.port };
  }
  return { kind: 'address', secure, ...address, host: allowed(address.host) };
}

function nodeAddress(reader: ObjectReader, id: string): ProxiedAddress {
  const asked = parseProxiedName('node', id);
  const node = findNode(reader, asked.name);
  if (asked.port === '' || asked.port === String(node.port)) return { kind: 'node', node };
  const port = Number(asked.port);
  if (!/^\d+$/.test(asked.port) || port < 1 || port > 0xffff) throw badRequestError(`invalid node request ${JSON.stringify(id)}`);
  return { kind: 'address', secure: asked.scheme === 'https', host: allowed(node.host), port };
}

/** The API server's own machine must not be reached by writing its address into a status. */
function allowed(host: string): string {
  const isUnspecified = host === '' || host === '0.0.0.0' || host === '::';
  const isLinkLocal = host.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/i.test(host);
  const isMulticast = /^(?:22[4-9]|23\d)\./.test(host) || /^ff/i.test(host);
  if (isUnspecified || isLoopback(host) || isLinkLocal || isMulticast || host === '255.255.255.255') {
    throw badRequestError('address not allowed');
  }
  return host;
}

function isLoopback(host: string): boolean {
  return host.startsWith('127.') || host === '::1' || host === 'localhost' || /^::ffff:127\./i.test(host);
}
