import { createHash, randomBytes } from 'node:crypto';
import { PLATFORM_NAMESPACE, PLATFORM_SETTINGS } from '../../../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { pluginVersionName, type PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { Secret } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { errorText } from '../../../../lib/log.ts';
import { done, stalled, waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import { MigrationError } from '../../database/migrate.ts';
import { DSN_KEY } from '../../database/platform-database.ts';
import type { DatabaseAccess, PluginDatabases } from '../../database/plugin-databases.ts';
import type { MigrationFile, MigrationProblem } from '../../migrations/lint-migrations.ts';
import { filesToJudge, migrationFiles } from '../../migrations/migration-files.ts';
import { DATABASE_SECRET } from '../../workload/deployment.ts';
import { labelsOf, type Target } from '../model/target.ts';
import type { PluginObjects } from '../plugin-objects.ts';

export interface DatabasePorts {
  target(installation: PluginInstallation): Target;
  version(name: string): PluginVersion | undefined;
  keep: PluginObjects['keep'];
  findSecret(namespace: string, name: string): KubeObject | undefined;
  databases(): Pick<PluginDatabases, 'access' | 'provision' | 'migrate'> | undefined;
  lint(files: readonly MigrationFile[]): Promise<MigrationProblem[]>;
}

/** No watch tells when a server is back. */
const TRY_AGAIN_MS = 5_000;
const PROBLEMS_SHOWN = 5;

/** Its schema is there, with what its migrations make of it, and the plugin has the way to it. */
export function databaseReady(ports: DatabasePorts): Step<PluginInstallation> {
  /** What was made right by this process, so that a round in which nothing changed asks the server nothing. */
  const settled = new Map<string, string>();
  return {
    name: InstallationCondition.DatabaseReady,
    async run(installation) {
      const target = ports.target(installation);
      const { namespace, manifest, plugin, tenant, version } = target;
      if (!manifest.spec.database) {
        await ports.keep(Secret, namespace, 'database', []);
        return done(InstallationReason.NotNeeded);
      }
      const databases = ports.databases();
      if (!databases) return unconfigured(plugin);
      const refused = await judged(ports, installation, version);
      if (refused) return refused;
      const { connectionLimit = 10 } = manifest.spec.database;
      const password = passwordIn(ports.findSecret(namespace, DATABASE_SECRET)) ?? randomBytes(24).toString('base64url');
      // Before the role has it, so that a crash in between makes no second one.
      await ports.keep(Secret, namespace, 'database', [accessSecret(target, databases.access(tenant, plugin), password)]);
      const state = fingerprint([version.metadata.uid, password, connectionLimit, databases.access(tenant, plugin)]);
      if (settled.get(namespace) === state) return done();
      try {
        await databases.provision(tenant, plugin, { password, connectionLimit });
        await databases.migrate(tenant, plugin, migrationFiles(version));
      } catch (error) {
        return failed(plugin, error);
      }
      settled.set(namespace, state);
      return done();
    },
  };
}

function unconfigured(plugin: string): Outcome {
  const what = `Cannot install "${plugin}": its spec.database needs PostgreSQL, and none is configured`;
  const message = `${what}; put postgresql://user:password@host:port/postgres into ${DSN_KEY} of the Secret ${PLATFORM_NAMESPACE}/${PLATFORM_SETTINGS}`;
  return waiting(InstallationReason.DatabaseUnavailable, message);
}

/** What would break the version at work is refused before anything is touched. */
async function judged(ports: DatabasePorts, { spec, status }: PluginInstallation, version: PluginVersion): Promise<Outcome | undefined> {
  const atWork = status?.version === undefined ? undefined : ports.version(pluginVersionName(spec.publisher, spec.plugin, status.version));
  if (atWork?.metadata.uid === version.metadata.uid) return undefined;
  const problems = await ports.lint(filesToJudge(version, atWork));
  if (problems.length === 0) return undefined;
  const shown = problems.slice(0, PROBLEMS_SHOWN).map(({ file, line, rule, message }) => `${file}:${line} ${rule}: ${message}`);
  const more = problems.length > PROBLEMS_SHOWN ? `, and ${problems.length - PROBLEMS_SHOWN} more` : '';
  const message = `Cannot install "${spec.plugin}" ${version.spec.version}: its migrations break the version before: ${shown.join(' | ')}${more}`;
  return stalled(InstallationReason.MigrationRefused, message);
}

/** PostgreSQL's code for a lock that did not come in time. */
const LOCK_NOT_AVAILABLE = '55P03';

function failed(plugin: string, error: unknown): Outcome {
  const text = errorText(error);
  const isLocked = error instanceof MigrationError && (error.cause as { code?: string } | undefined)?.code === LOCK_NOT_AVAILABLE;
  if (error instanceof MigrationError && !isLocked) return stalled(InstallationReason.MigrationFailed, text);
  return waiting(InstallationReason.DatabaseUnavailable, `Cannot set up the database of "${plugin}": ${text}; trying again`, TRY_AGAIN_MS);
}

function passwordIn(secret: KubeObject | undefined): string | undefined {
  const encoded = secret?.data?.password as string | undefined;
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString();
}

function accessSecret(target: Target, { host, port, database, user, schema }: DatabaseAccess, password: string): KubeObject {
  const at = host.includes(':') ? `[${host}]` : host;
  const uri = `postgresql://${encodeURIComponent(user)}:${password}@${at}:${port}/${encodeURIComponent(database)}`;
  const entries = { host, port: String(port), database, user, schema, password, uri };
  const data = Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, Buffer.from(value).toString('base64')]));
  const metadata = { name: DATABASE_SECRET, labels: labelsOf(target, 'database') };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
}

function fingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
