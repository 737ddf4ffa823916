import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client } from '../../../src/client/client.ts';
import { Endpoints, EndpointSlice, Namespace, Node, Pod, Service } from '../../../src/client/kinds.ts';
import type { Json, KubeObject } from '../../../src/kube/object.ts';

const WAIT = { timeout: 10_000, interval: 100 };
const NAMESPACE = 'services';

/** Where Services lead, in both forms, on any API server with any controllers that `connect` starts. */
export function servicesSuite(name: string, connect: () => Promise<{ client: Client }>): void {
  describe(`endpoints of Services on ${name}`, () => {
    let client: Client;
    const services = () => client.resource<KubeObject>(Service, NAMESPACE);
    const pods = () => client.resource<KubeObject>(Pod, NAMESPACE);
    const allEndpoints = () => client.resource<KubeObject>(Endpoints, NAMESPACE);

    beforeAll(async () => {
      ({ client } = await connect());
      await client.resource(Namespace).create({ metadata: { name: NAMESPACE } });
      await client.resource<KubeObject>(Node).create({ metadata: { name: 'somewhere', labels: { 'topology.kubernetes.io/zone': 'z' } } });
      await addPod('ready', '10.1.0.1', 'True');
      await addPod('unready', '10.1.0.2', 'False');
      await addPod('leaving', '10.1.0.3', 'True');
      await pods().delete('leaving', { gracePeriodSeconds: 600 });
      await addPod('done', '10.1.0.4', 'False', 'Succeeded');
      await addPod('lost', '10.1.0.5', 'True', 'Running', 'nowhere');
      await addPod('new', undefined, 'False', 'Pending');
    });

    async function addPod(pod: string, podIP: string | undefined, ready: string, phase = 'Running', nodeName = 'somewhere'): Promise<void> {
      const ports = [
        { name: 'http', containerPort: 8080 },
        { name: 'metrics', containerPort: 9090 },
      ];
      const spec = { nodeName, hostname: `host-${pod}`, subdomain: 'headless', containers: [{ name: 'c', image: 'i', ports }] };
      await vi.waitFor(() => pods().create({ metadata: { name: pod, labels: { app: 'web' } }, spec }), WAIT);
      const status: Json = { phase, conditions: [{ type: 'Ready', status: ready }] };
      if (podIP !== undefined) Object.assign(status, { podIP, podIPs: [{ ip: podIP }] });
      await pods().status.patch(pod, { type: 'merge', patch: { status } });
    }

    async function view(service: string): Promise<Json> {
      const endpoints = await allEndpoints()
        .get(service)
        .catch(() => undefined);
      const slices = await client
        .resource<KubeObject>(EndpointSlice, NAMESPACE)
        .list({ labelSelector: `kubernetes.io/service-name=${service}` });
      return { endpoints: endpoints ? endpointsView(endpoints) : [], slices: slices.items.map(sliceView) };
    }

    const selector = { app: 'web' };
    const expectView = (service: string, endpoints: string[], slices: string[][]): Promise<void> =>
      vi.waitFor(async () => expect(await view(service)).toEqual({ endpoints, slices }), WAIT);

    test.each<[string, Json, string[], string[][]]>([
      [
        'web',
        {
          selector,
          ports: [
            { name: 'http', port: 80, targetPort: 'http' },
            { name: 'metrics', port: 9090, appProtocol: 'http' },
          ],
        },
        [
          'endpoints.kubernetes.io/managed-by=endpoint-controller team=blue',
          '10.1.0.1 somewhere, 10.1.0.5 nowhere | 10.1.0.2 somewhere | http:8080/TCP metrics:9090/TCP/http',
        ],
        [
          [
            'endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io kubernetes.io/service-name=web team=blue of Service',
            'IPv4 http:8080/TCP metrics:9090/TCP/http',
            '10.1.0.1 ready serving somewhere z ready',
            '10.1.0.2 somewhere z unready',
            '10.1.0.3 serving terminating somewhere z leaving',
          ],
        ],
      ],
      [
        'headless',
        { selector, clusterIP: 'None', ports: [{ port: 80, targetPort: 8080 }] },
        [
          'endpoints.kubernetes.io/managed-by=endpoint-controller service.kubernetes.io/headless= team=blue',
          '10.1.0.1 host-ready somewhere, 10.1.0.5 host-lost nowhere | 10.1.0.2 host-unready somewhere | :8080/TCP',
        ],
        [
          [
            'endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io kubernetes.io/service-name=headless service.kubernetes.io/headless= team=blue of Service',
            'IPv4 :8080/TCP',
            '10.1.0.1 ready serving host-ready somewhere z ready',
            '10.1.0.2 host-unready somewhere z unready',
            '10.1.0.3 serving terminating host-leaving somewhere z leaving',
          ],
        ],
      ],
      [
        'portless',
        { selector, clusterIP: 'None' },
        [
          'endpoints.kubernetes.io/managed-by=endpoint-controller service.kubernetes.io/headless= team=blue',
          '10.1.0.1 somewhere, 10.1.0.5 nowhere | 10.1.0.2 somewhere | ',
        ],
        [
          [
            'endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io kubernetes.io/service-name=portless service.kubernetes.io/headless= team=blue of Service',
            'IPv4 ',
            '10.1.0.1 ready serving somewhere z ready',
            '10.1.0.2 somewhere z unready',
            '10.1.0.3 serving terminating somewhere z leaving',
          ],
        ],
      ],
      [
        'eager',
        { selector, publishNotReadyAddresses: true, ports: [{ port: 80, targetPort: 8080 }] },
        [
          'endpoints.kubernetes.io/managed-by=endpoint-controller team=blue',
          '10.1.0.1 somewhere, 10.1.0.2 somewhere, 10.1.0.3 somewhere, 10.1.0.5 nowhere |  | :8080/TCP',
        ],
        [
          [
            'endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io kubernetes.io/service-name=eager team=blue of Service',
            'IPv4 :8080/TCP',
            '10.1.0.1 ready serving somewhere z ready',
            '10.1.0.2 ready somewhere z unready',
            '10.1.0.3 ready serving terminating somewhere z leaving',
            '10.1.0.5 ready serving nowhere lost',
          ],
        ],
      ],
      [
        'unnamed',
        { selector, ports: [{ port: 80, targetPort: 'nothing' }] },
        ['endpoints.kubernetes.io/managed-by=endpoint-controller team=blue'],
        [
          [
            'endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io kubernetes.io/service-name=unnamed team=blue of Service',
            'IPv4 ',
            '10.1.0.1 ready serving somewhere z ready',
            '10.1.0.2 somewhere z unready',
            '10.1.0.3 serving terminating somewhere z leaving',
          ],
        ],
      ],
      [
        'nobody',
        { selector: { app: 'nobody' }, ports: [{ port: 80 }] },
        ['endpoints.kubernetes.io/managed-by=endpoint-controller team=blue'],
        [
          [
            'endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io kubernetes.io/service-name=nobody team=blue of Service',
            'IPv4 ',
          ],
        ],
      ],
      ['external', { type: 'ExternalName', externalName: 'example.com' }, [], []],
    ])('%s', async (service, spec, endpoints, slices) => {
      await services().create({ metadata: { name: service, labels: { team: 'blue' } }, spec });
      await expectView(service, endpoints, slices);
    });

    test('both follow Pods, and are made again', async () => {
      await pods().status.patch('unready', { type: 'merge', patch: { status: { conditions: [{ type: 'Ready', status: 'True' }] } } });
      const expected = '10.1.0.1 somewhere, 10.1.0.2 somewhere, 10.1.0.5 nowhere |  | http:8080/TCP metrics:9090/TCP/http';
      await vi.waitFor(async () => {
        const { endpoints, slices } = await view('web');
        expect(endpoints[1]).toBe(expected);
        expect(slices[0]).toContain('10.1.0.2 ready serving somewhere z unready');
      }, WAIT);
      await allEndpoints().delete('web');
      await vi.waitFor(async () => expect((await view('web')).endpoints[1]).toBe(expected), WAIT);
      await services().delete('web');
      await vi.waitFor(async () => expect((await view('web')).endpoints).toEqual([]), WAIT);
    });

    test('Endpoints that somebody makes become a slice, which follows them', async () => {
      await services().create({ metadata: { name: 'manual' }, spec: { ports: [{ name: 'x', port: 80 }] } });
      const ports = [{ name: 'x', port: 8080 }];
      const made = { subsets: [{ addresses: [{ ip: '10.9.0.1' }], notReadyAddresses: [{ ip: '10.9.0.2' }], ports }] };
      await allEndpoints().create({ metadata: { name: 'manual' }, ...made });
      const [[labels, kind, ...endpoints]] = [
        [
          'endpointslice.kubernetes.io/managed-by=endpointslicemirroring-controller.k8s.io kubernetes.io/service-name=manual of Endpoints',
          'IPv4 x:8080/TCP',
          '10.9.0.1 ready',
          '10.9.0.2',
        ],
      ];
      await expectView('manual', ['', '10.9.0.1 | 10.9.0.2 | x:8080/TCP'], [[labels, kind, ...endpoints]]);
      await allEndpoints().patch('manual', { type: 'merge', patch: { subsets: [{ addresses: [{ ip: '10.9.0.3' }], ports }] } });
      await expectView('manual', ['', '10.9.0.3 |  | x:8080/TCP'], [[labels, kind, '10.9.0.3 ready']]);
      await allEndpoints().delete('manual');
      await expectView('manual', [], []);
    });
  });
}

/** In lines: labels, then each subset as `ready | not ready | ports`. */
function endpointsView({ metadata, subsets }: KubeObject): string[] {
  const addresses = (list: Json[] = []): string =>
    list.map(({ ip, hostname, nodeName }) => [ip, hostname, nodeName].filter(Boolean).join(' ')).join(', ');
  const lines = (subsets ?? []).map(
    (subset: Json) => `${addresses(subset.addresses)} | ${addresses(subset.notReadyAddresses)} | ${portsText(subset.ports)}`,
  );
  return [labelsText(metadata), ...lines.sort()];
}

/** In lines: labels and owner, then the ports, then each endpoint with what is true of it. */
function sliceView({ metadata, addressType, ports, endpoints }: KubeObject): string[] {
  const owners = (metadata.ownerReferences ?? []).map(({ kind }) => kind).join();
  const lines = (endpoints ?? []).map(({ addresses, conditions, hostname, nodeName, zone, targetRef }: Json) => {
    const true_ = Object.keys(conditions).filter((name) => conditions[name] === true);
    return [...addresses, ...true_, hostname, nodeName, zone, targetRef?.name].filter(Boolean).join(' ');
  });
  return [`${labelsText(metadata)} of ${owners}`, `${addressType} ${portsText(ports)}`, ...lines.sort()];
}

function labelsText({ labels }: KubeObject['metadata']): string {
  return Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(' ');
}

function portsText(ports: Json[] | null | undefined): string {
  const texts = (ports ?? []).map(
    ({ name, port, protocol, appProtocol }) => `${name ?? ''}:${port}/${protocol}${appProtocol ? `/${appProtocol}` : ''}`,
  );
  return texts.sort().join(' ');
}
