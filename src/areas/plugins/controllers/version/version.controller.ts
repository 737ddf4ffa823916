import { RECHECK_ANNOTATION } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginVersionKind, type PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { PublisherKind } from '../../../../api/plugins.tenantry.dev/v1alpha1/publisher.ts';
import type { VersionState } from '../../../../api/plugins.tenantry.dev/v1alpha1/states.ts';
import { VersionReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/version-reasons.ts';
import { findCondition } from '../../../../kube/conditions.ts';
import { Controller, type ReconcileContext } from '../../../../runtime/controller.ts';
import type { EventDetails } from '../../../../runtime/event-recorder.ts';
import { stepReconciler } from '../../../../runtime/steps/step-reconciler.ts';
import type { PluginsEnvironment } from '../../plugins-environment.ts';
import { statesPassed, versionPhase } from './model/version-phase.ts';
import { pullCredentials } from './pull-credentials.ts';
import { versionSteps } from './version.steps.ts';

const CONCURRENCY = 4;
const BY_PUBLISHER = 'publisher';

/** Takes every PluginVersion from DRAFT to VERIFIED, and back out when its publisher's key is revoked. */
export function versionController(environment: PluginsEnvironment): Controller {
  const { client, clock, informers, events, registry } = environment;
  const versions = informers.get(PluginVersionKind);
  const publishers = informers.get(PublisherKind);
  versions.addIndex(BY_PUBLISHER, ({ spec }) => [spec.publisher]);
  const passed = new Map<string, { version: PluginVersion; states: VersionState[] }>();
  const steps = stepReconciler<PluginVersion>({
    clock,
    read: (key) => versions.get(key),
    resource: () => client.resource(PluginVersionKind),
    fieldManager: 'tenantry-plugin-versions',
    steps: versionSteps({
      publisher: (name) => publishers.get(name),
      registry,
      credentials: (version) => pullCredentials(client, version),
    }),
    summarise(version) {
      const before = version.status?.phase;
      const phase = versionPhase(before, version.status?.conditions ?? []);
      passed.set(version.metadata.name!, { version, states: statesPassed(before, phase) });
      version.status = { ...version.status, phase, observedRecheck: version.metadata.annotations?.[RECHECK_ANNOTATION] };
    },
  });
  const reconcile = async (key: string, context: ReconcileContext) => {
    try {
      const result = await steps(key, context);
      const { version, states = [] } = passed.get(key) ?? {};
      // Told once it is written: a write that was refused will be made again.
      if (version) for (const state of states) events.record(version, eventOf(state, version));
      return result;
    } finally {
      passed.delete(key);
    }
  };
  return new Controller({ ...environment, name: 'plugin-version', concurrency: CONCURRENCY, reconcile })
    .watch(versions)
    .watch(publishers, ({ object }) => versions.byIndex(BY_PUBLISHER, object.metadata.name!).map(({ metadata }) => metadata.name!));
}

function eventOf(state: VersionState, { status }: PluginVersion): EventDetails {
  const why = findCondition(status?.conditions, 'Ready')?.message ?? '';
  switch (state) {
    case 'DRAFT':
      return { type: 'Normal', reason: 'Draft', message: why === '' ? 'not signed yet' : why };
    case 'SIGNED':
      return { type: 'Normal', reason: VersionReason.Signed, message: `${status?.image} has a signature` };
    case 'VERIFIED':
      return {
        type: 'Normal',
        reason: VersionReason.Verified,
        message: `${status?.image}, signed by the key "${status?.signature?.keyId}"`,
      };
    case 'REVOKED':
      return { type: 'Warning', reason: VersionReason.Revoked, message: why };
  }
}
