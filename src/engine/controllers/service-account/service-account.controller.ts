import { Namespace, ServiceAccount } from '../../../client/kinds.ts';
import { isStatusError } from '../../../kube/status.ts';
import { Controller } from '../../../runtime/controller.ts';
import type { Environment, Running } from '../environment.ts';
import { isActive, isLeavingNamespace } from '../namespace/is-active.ts';

const NAME = 'default';

/** Every active namespace has a ServiceAccount `default`. Keys are namespaces. */
export function serviceAccountController({ client, clock, log, metrics, informers }: Environment): Running {
  const namespaces = informers.get(Namespace);
  const accounts = informers.get(ServiceAccount, { fieldSelector: `metadata.name=${NAME}`, metadataOnly: true });
  const controller = new Controller({
    name: 'service-account',
    clock,
    log,
    metrics,
    concurrency: 5,
    async reconcile(namespace, { signal }) {
      if (!isActive(namespaces.get(namespace)) || accounts.find(namespace, NAME)) return;
      try {
        await client.resource(ServiceAccount, namespace).create({ metadata: { name: NAME, namespace } }, { signal });
      } catch (error) {
        if (!isStatusError(error, 'AlreadyExists') && !isLeavingNamespace(error)) throw error;
      }
    },
  });
  return controller
    .watch(namespaces)
    .watch(accounts, ({ type, object }) => (type === 'deleted' ? [object.metadata.namespace!] : []))
    .start();
}
