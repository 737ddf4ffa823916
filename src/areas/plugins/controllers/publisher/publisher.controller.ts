import { PluginVersionKind } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { PublisherKind, type Publisher } from '../../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import { VersionReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { readPublicKey } from '../../../../lib/cosign/signing-keys.ts';
import { Controller } from '../../../../runtime/controller.ts';
import { done, stalled } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { stepReconciler } from '../../../../runtime/steps/step-reconciler.ts';
import type { PluginsEnvironment } from '../../plugins-environment.ts';

const BY_PUBLISHER = 'publisher';

/** Tells a Publisher whether its keys can be used, and how many versions it has. */
export function publisherController(environment: PluginsEnvironment): Controller {
  const { client, clock, informers } = environment;
  const publishers = informers.get(PublisherKind);
  const versions = informers.get(PluginVersionKind);
  versions.addIndex(BY_PUBLISHER, ({ spec }) => [spec.publisher]);
  const reconcile = stepReconciler<Publisher>({
    clock,
    read: (key) => publishers.get(key),
    resource: () => client.resource(PublisherKind),
    fieldManager: 'tenantry-publishers',
    steps: [keysReadable()],
    summarise(publisher) {
      publisher.status = { ...publisher.status, versions: versions.byIndex(BY_PUBLISHER, publisher.metadata.name!).length };
    },
  });
  return new Controller({ ...environment, name: 'plugin-publisher', reconcile })
    .watch(publishers)
    .watch(versions, (change) => (change.type === 'modified' ? [] : [change.object.spec.publisher]));
}

function keysReadable(): Step<Publisher> {
  return {
    name: 'KeysReadable',
    run({ spec }) {
      const problems = spec.keys.flatMap(({ id, publicKey }) => {
        try {
          readPublicKey(publicKey);
          return [];
        } catch (error) {
          return [`the key "${id}" counts for nothing: ${(error as Error).message}`];
        }
      });
      return problems.length === 0 ? done('Readable') : stalled(VersionReason.NoUsableKey, problems.join('; '));
    },
  };
}
