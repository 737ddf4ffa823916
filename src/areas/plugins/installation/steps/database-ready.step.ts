import { createHash } from 'node:crypto';
import type { PluginInstallation } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { pluginVersionName, type PluginVersion } from '../../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { InstallationCondition, InstallationReason } from '../../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import { Secret } from '../../../../client/kinds.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';
import { errorText } from '../../../../lib/log.ts';
import { done, stalled, waiting, type Outcome } from '../../../../runtime/steps/outcome.ts';
import type { Step } from '../../../../runtime/steps/run-steps.ts';
import type { DataClaims } from '../../claims/data-claims.ts';
import { loginOf, loginSecret, otherUntil } from '../../database/database-login.ts';
import { ContractPassedError, MigrationError } from '../../database/migrate.ts';
import { DatabaseUnavailable } from '../../database/platform-database.ts';
import type { PluginDatabases } from '../../database/plugin-databases.ts';
import type { MigrationFile, MigrationProblem } from '../../migrations/lint-migrations.ts';
import { filesToJudge, migrationFiles } from '../../migrations/migration-files.ts';
import { DATABASE_SECRET } from '../../workload/deployment.ts';
import type { Target } from '../model/target.ts';
import type { PluginObjects } from '../plugin-objects.ts';
import type { VersionsOf } from './kept.steps.ts';

type Databases = Pick<PluginDatabases, 'access' | 'isSettled' | 'provision' | 'migrate' | 'settle'>;

export interface DatabasePorts {
  target(installation: PluginInstallation): Target;
  versions: VersionsOf;
  version(name: string): PluginVersion | undefined;
  keep: PluginObjects['keep'];
  findSecret(namespace: string, name: string): KubeObject | undefined;
  /** @throws DatabaseUnavailable */
  databases(): Promise<Databases>;
  /** Whose databases the tenant has. */
  claims: Pick<DataClaims, 'claim'>;
  lint(files: readonly MigrationFile[]): Promise<MigrationProblem[]>;
}

/** No watch tells when a server is back. */
const TRY_AGAIN_MS = 5_000;
const PROBLEMS_SHOWN = 5;
/** What is made of a login and a version; another number has everything made right again. */
const FORMAT = 3;

/** Its schema is there, with what its migrations make of it, and the plugin has the way to it. */
export function databaseReady(ports: DatabasePorts): Step<PluginInstallation> {
  return {
    name: InstallationCondition.DatabaseReady,
    async run(installation) {
      const target = ports.target(installation);
      if (!target.manifest.spec.database) {
        // A version that still answers requests keeps its way to the database.
        const isUsed = ports.versions(installation, target).some(({ manifest }) => manifest.spec.database);
        if (!isUsed) await ports.keep(Secret, target.namespace, 'database', []);
        return done(InstallationReason.NotNeeded);
      }
      const refused = await judged(ports, installation, target.version);
      if (refused) return refused;
      try {
        const databases = await ports.databases();
        const taken = await ports.claims.claim('database', target);
        if (taken) return taken;
        await settle(ports, target, databases);
        return done();
      } catch (error) {
        if (isStatusError(error)) throw error;
        return failed(target, error);
      }
    },
  };
}

/** Makes the server say what it should. What it was told before, by this process or another, is not told again. */
async function settle(ports: DatabasePorts, target: Target, databases: Databases): Promise<void> {
  const { namespace, manifest, plugin, tenant, version } = target;
  const { connectionLimit = 10 } = manifest.spec.database!;
  const login = loginOf(ports.findSecret(namespace, DATABASE_SECRET), target);
  const access = databases.access(tenant, plugin);
  // Before the role has it, so that a crash in between makes no second one.
  await ports.keep(Secret, namespace, 'database', [loginSecret(target, access, login)]);
  const state = fingerprint([FORMAT, login, connectionLimit, access]);
  const migrations = migrationFiles(version);
  // Not the version: the way back to one whose migrations were applied needs no server.
  if (await databases.isSettled(tenant, plugin, state, migrations)) return;
  const { user, password } = login;
  await databases.provision(tenant, plugin, { user, password, otherUntil: otherUntil(login), connectionLimit });
  const applied = await databases.migrate(tenant, plugin, migrations);
  await databases.settle(tenant, plugin, { state, applied });
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

function failed({ plugin, version }: Target, error: unknown): Outcome {
  const text = errorText(error);
  if (error instanceof MigrationError) return stalled(InstallationReason.MigrationFailed, text);
  if (error instanceof ContractPassedError) {
    return stalled(InstallationReason.RollbackForbidden, `Cannot go back to "${plugin}" ${version.spec.version}: ${text}`);
  }
  const needs = error instanceof DatabaseUnavailable ? 'its spec.database needs PostgreSQL: ' : 'its database cannot be set up: ';
  const message = `Cannot install "${plugin}": ${needs}${text}; trying again`;
  return waiting(InstallationReason.DatabaseUnavailable, message, TRY_AGAIN_MS);
}

function fingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
