import { describe, expect, it } from 'vitest';
import type { GroupResource, Json, KubeObject } from '../../../kube/object.ts';
import { parseRequestInfo } from '../chain/request-info.ts';
import type { ObjectReader } from '../registry/objects.ts';
import { proxiedAddress } from './proxied-address.ts';

const pod = (name: string, ip: string, ports: Json[] = []): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'n' },
  spec: { nodeName: 'here', containers: [{ name: 'c' }, { name: 'd', ports }] },
  status: { podIP: ip },
});

const OBJECTS: Record<string, KubeObject[]> = {
  pods: [
    pod('web', '10.1.0.5', [{ name: 'http', containerPort: 8080 }]),
    pod('bare', '10.1.0.6'),
    pod('six', 'fd00::5', [{ containerPort: 81 }]),
    pod('local', '127.3.0.1', [{ containerPort: 82 }]),
    pod('sly', '169.254.169.254'),
    pod('pending', ''),
  ],
  nodes: [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'here' },
      status: {
        addresses: [
          { type: 'Hostname', address: 'here.example' },
          { type: 'InternalIP', address: '192.0.2.1' },
        ],
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      },
    },
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'mute' }, status: {} },
  ],
  services: [
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'one', namespace: 'n' }, spec: { ports: [{ port: 80 }] } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'two', namespace: 'n' },
      spec: {
        ports: [
          { name: 'http', port: 80 },
          { name: 'admin', port: 90 },
        ],
      },
    },
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'local', namespace: 'n' }, spec: { ports: [{ port: 80 }] } },
  ],
  endpointslices: [
    slice('one', '10.1.0.5', [{ name: '', port: 8080 }]),
    slice('two', '10.1.0.5', [
      { name: 'http', port: 8080 },
      { name: 'admin', port: 9090 },
    ]),
    slice('local', '127.3.0.1', [{ name: '', port: 82 }]),
  ],
};

function slice(service: string, address: string, ports: Json[]): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: service, namespace: 'n', labels: { 'kubernetes.io/service-name': service } },
    ports,
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
  };
}

const reader: ObjectReader = {
  get: <T extends KubeObject>({ resource }: GroupResource, _namespace: string, name: string) =>
    OBJECTS[resource]?.find(({ metadata }) => metadata.name === name) as T | undefined,
  list: <T extends KubeObject>({ resource }: GroupResource) => (OBJECTS[resource] ?? []) as T[],
  onChange: () => () => {},
};

function addressOf(path: string) {
  return proxiedAddress(
    reader,
    parseRequestInfo('GET', `/api/v1/${path}/proxy/x`, () => undefined),
    () => 0,
  );
}

describe('proxiedAddress', () => {
  it.each([
    ['namespaces/n/pods/web', { secure: false, host: '10.1.0.5', port: 8080 }],
    ['namespaces/n/pods/web:http', { secure: false, host: '10.1.0.5', port: 8080 }],
    ['namespaces/n/pods/web:9', { secure: false, host: '10.1.0.5', port: 9 }],
    ['namespaces/n/pods/https:web:443', { secure: true, host: '10.1.0.5', port: 443 }],
    ['namespaces/n/pods/bare', { secure: false, host: '10.1.0.6', port: 80 }],
    ['namespaces/n/pods/six', { secure: false, host: 'fd00::5', port: 81 }],
    ['namespaces/n/services/one', { secure: false, host: '10.1.0.5', port: 8080 }],
    ['namespaces/n/services/two:admin', { secure: false, host: '10.1.0.5', port: 9090 }],
    ['namespaces/n/services/https:two:80', { secure: true, host: '10.1.0.5', port: 8080 }],
    ['nodes/here:9100', { secure: false, host: '192.0.2.1', port: 9100 }],
  ])('%s', (path, expected) => {
    expect(addressOf(path)).toMatchObject({ kind: 'address', ...expected });
  });

  it.each(['nodes/here', 'nodes/here:10250'])('%s is the kubelet', (path) => {
    expect(addressOf(path)).toEqual({ kind: 'node', node: { node: 'here', host: '192.0.2.1', port: 10250 } });
  });

  it.each(['namespaces/n/pods/local', 'namespaces/n/services/local'])('%s is on loopback, and reached through its node', (path) => {
    expect(addressOf(path)).toMatchObject({ kind: 'pod', port: 82, pod: { metadata: { name: 'local' } } });
  });

  it.each([
    ['namespaces/n/pods/none', 'pods "none" not found'],
    ['namespaces/n/pods/ftp:web:1', 'invalid pod request "ftp:web:1"'],
    ['namespaces/n/pods/a:b:c:d', 'invalid pod request "a:b:c:d"'],
    ['namespaces/n/pods/web:nosuch', 'invalid port "nosuch"'],
    ['namespaces/n/pods/web:70000', 'invalid port "70000"'],
    ['namespaces/n/pods/sly', 'address not allowed'],
    ['namespaces/n/pods/pending', 'address not allowed'],
    ['namespaces/n/services/two', 'no service port "" found for service "two"'],
    ['namespaces/n/services/one:99', 'no service port "99" found for service "one"'],
    ['nodes/none', 'nodes "none" not found'],
    ['nodes/mute', 'no preferred addresses found; known addresses: []'],
  ])('%s is refused: %s', (path, message) => {
    expect(() => addressOf(path)).toThrow(message);
  });
});
