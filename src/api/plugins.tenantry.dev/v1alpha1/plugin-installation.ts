import { kindOf, type KindDefinition, type ObjectOf } from '../../kind-definition.ts';
import { boolean, conditions, integer, list, object, oneOf, rules, text, time } from '../../schema-source.ts';
import { GROUP, VERSION } from './group.ts';
import { PLUGIN_NAME, PUBLISHER_NAME } from './names.ts';
import { INSTALLATION_STATES } from './states.ts';

/** A version that was at work and healthy: where a rollback may lead. */
const revision = object(
  { version: text(), image: text(), since: time() },
  { until: time(), migrations: integer(), isKnownGood: boolean(), reason: text() },
);

/** What the gateway does for the plugin. Which share of the requests goes to which version; `revision` counts the changes of that. */
const gateway = object(
  {},
  {
    revision: integer({ format: 'int64' }),
    routes: list(object({ version: text(), workload: text(), weight: integer({ minimum: 0, maximum: 100 }) }, {}), { maxItems: 10 }),
    /** Gateways have told how the requests fare: if none does any more, that is not because none is there. */
    isReported: boolean(),
    requestRate: object({}, { perTenant: text(), perUser: text() }),
    llmTokensPerDay: integer({ format: 'int64' }),
    permissions: list(text(), { maxItems: 100 }),
  },
);

export const pluginInstallationDefinition = {
  group: GROUP,
  version: VERSION,
  kind: 'PluginInstallation',
  plural: 'plugininstallations',
  shortNames: ['pli'],
  scope: 'Namespaced',
  description: 'A plugin in a tenant: an object of the tenant’s root namespace. What it runs in is a namespace of the platform.',
  spec: object(
    { publisher: text({ pattern: PUBLISHER_NAME, maxLength: 40 }), plugin: text({ pattern: PLUGIN_NAME, maxLength: 63 }) },
    {
      /** The wanted version; absent: the newest that the tenant's PluginPolicy allows. */
      version: text({ maxLength: 64 }),
      /** Not at work, its token dead, its data kept. */
      suspended: boolean(),
      /** What becomes of its database and secrets when it is uninstalled. */
      data: oneOf(['Retain', 'Delete'], { default: 'Retain' }),
      /** Set by `rollback`: the version to go back to, and a number that makes each request a new one. */
      rollback: object({ request: integer({ format: 'int64' }) }, { to: text({ maxLength: 64 }) }),
    },
    // Namespace, secrets, roles and subject are named after them: another plugin is another installation.
    rules({
      rule: 'self.publisher == oldSelf.publisher && self.plugin == oldSelf.plugin',
      message: 'the plugin of an installation never changes; uninstall it, and install the other',
    }),
  ),
  status: object(
    {},
    {
      phase: oneOf(INSTALLATION_STATES),
      reason: text(),
      message: text(),
      /** Where it runs. */
      namespace: text(),
      version: text(),
      image: text(),
      /** What users of the original look for: `Running`, `ImagePullBackOff`. */
      imageStatus: text(),
      /**
       * What it aims at; `step` and `stepSince`: how far the requests have moved to it, and since when; `requests` and `errors`: those of the
       * steps before. Once it is deployed its migrations are applied.
       */
      target: object(
        {},
        {
          version: text(),
          step: integer(),
          weight: integer(),
          since: time(),
          stepSince: time(),
          requests: integer({ format: 'int64' }),
          errors: integer({ format: 'int64' }),
          isDeployed: boolean(),
        },
      ),
      gateway,
      /** The tenant's cluster that requests go to, and the Pods that take them there; absent: they go to Pods of the host. */
      placement: object(
        { cluster: text() },
        {
          endpoints: list(
            object(
              { workload: text(), port: integer({ minimum: 1, maximum: 65535 }), pods: list(text({ maxLength: 253 }), { maxItems: 32 }) },
              {},
            ),
            { maxItems: 10 },
          ),
        },
      ),
      /** The version that was taken back by itself, and why; it is not tried again before somebody asks. */
      rejected: object({ version: text(), reason: text(), message: text(), at: time() }, {}),
      /** The last request to try it again that was heard. */
      observedRetry: text(),
      history: list(revision, { maxItems: 20 }),
      /** In every token: with another one, or none, the tokens of before are worth nothing. */
      identity: text(),
      observedRollback: integer({ format: 'int64' }),
      /** The last request for a rollback that was refused. */
      refusedRollback: integer({ format: 'int64' }),
      observedGeneration: integer({ format: 'int64' }),
      conditions: conditions({ maxItems: 32 }),
    },
  ),
  columns: [
    { name: 'Plugin', type: 'string', jsonPath: '.spec.plugin' },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Image', type: 'string', jsonPath: '.status.imageStatus' },
    { name: 'Reason', type: 'string', jsonPath: '.status.reason' },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: ['.spec.plugin'],
} satisfies KindDefinition;

export const PluginInstallationKind = kindOf(pluginInstallationDefinition);
export type PluginInstallation = ObjectOf<typeof pluginInstallationDefinition>;
