import { ConfigMap, Namespace } from '../../../client/kinds.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import { isActive, isLeavingNamespace } from '../namespace/is-active.ts';

const NAME = 'kube-root-ca.crt';
const DESCRIPTION_ANNOTATION = 'kubernetes.io/description';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Every active namespace has the server's CA in a ConfigMap, for Pods to trust the server by. Keys are namespaces. */
export function rootCaController({ client, clock, log, metrics, informers }: Environment, rootCa: string): Running {
  const namespaces = informers.get(Namespace);
  const data = Object.freeze({ 'ca.crt': rootCa });
  const isRight = (map: KubeObject): boolean => map.data?.['ca.crt'] === rootCa && Object.keys(map.data).length === 1;
  const annotations = { [DESCRIPTION_ANNOTATION]: DESCRIPTION };
  const maps = informers.get(ConfigMap, {
    fieldSelector: `metadata.name=${NAME}`,
    // Thousands of namespaces hold the same text: kept once, not once per namespace.
    transform: (map) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: slim(map), data: isRight(map) ? data : map.data }),
  });
  const controller = new Controller({
    name: 'root-ca',
    clock,
    log,
    metrics,
    concurrency: 5,
    async reconcile(namespace, { signal }) {
      if (!isActive(namespaces.get(namespace))) return;
      const existing = maps.find(namespace, NAME);
      if (existing && isRight(existing)) return;
      const resource = client.resource(ConfigMap, namespace);
      try {
        if (existing) {
          const { resourceVersion } = existing.metadata;
          const surplus = Object.fromEntries(Object.keys(existing.data ?? {}).map((key) => [key, null]));
          await resource.patch(
            NAME,
            { type: 'merge', patch: { metadata: { resourceVersion, annotations }, data: { ...surplus, ...data } } },
            { signal },
          );
        } else await resource.create({ metadata: { name: NAME, namespace, annotations }, data }, { signal });
      } catch (error) {
        if (!isStatusError(error, 'AlreadyExists') && !isLeavingNamespace(error)) throw error;
      }
    },
  });
  return controller
    .watch(namespaces)
    .watch(maps, ({ object }) => [object.metadata.namespace!])
    .start();
}

function slim({ metadata: { name, namespace, uid, resourceVersion } }: KubeObject): KubeObject['metadata'] {
  return { name, namespace, uid, resourceVersion };
}
