import { createWriteStream } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { stringify } from 'yaml';
import { RELATIVE_PATH } from '../../api/adapstory.com/v1/plugin-manifest.ts';
import { secretPathOf } from '../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginInstallationKind, type PluginInstallation } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { PluginVersionKind, pluginVersionName, type PluginVersion } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { Client } from '../../client/client.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';

/** Writes the database of a plugin as SQL. */
export type Dump = (client: Client, tenant: string, plugin: string, write: (text: string) => Promise<void> | void) => Promise<void>;

/** Names of files come from whoever published: none leads out of its folder. */
const INNER_PATH = new RegExp(RELATIVE_PATH);

/** Writes all that a tenant has of a plugin into a folder. @returns the exit code */
export async function exportInstallation(
  session: Session,
  dump: Dump,
  name: string,
  { tenant, to }: { tenant: string; to?: string },
): Promise<number> {
  const folder = to ?? `${tenant}-${name}`;
  const { client, server } = session.cluster;
  const where = { server, namespace: tenant };
  const installation = await attempting(`export plugin "${name}"`, where, () => client.resource(PluginInstallationKind, tenant).get(name));
  await prepare(folder);
  const { apiVersion, kind, metadata, spec, status } = installation;
  const kept = { name: metadata.name, namespace: metadata.namespace, labels: metadata.labels, annotations: metadata.annotations };
  await writeFile(join(folder, 'installation.yaml'), stringify({ apiVersion, kind, metadata: kept, spec }));
  await writeFile(join(folder, 'history.yaml'), stringify(status?.history ?? []));
  const versions = await attempting(`export plugin "${name}"`, where, () => versionsOf(client, installation));
  for (const version of versions) await writeVersion(join(folder, 'versions', version.spec.version), version);
  await writeFile(join(folder, 'secrets.yaml'), stringify(secretsOf(versions, tenant)));
  const hasDatabase = versions.some(({ spec: { manifest } }) => manifest.spec.database !== undefined);
  if (hasDatabase) await writeDump(join(folder, 'database.sql'), (write) => dump(client, tenant, spec.plugin, write));
  const what = `installation, history, ${versions.length} ${versions.length === 1 ? 'version' : 'versions'}${hasDatabase ? ', database' : ''}`;
  session.out(`plugin ${name} exported to ${folder}: ${what}\n`);
  return 0;
}

/** A folder of its own: what is exported is never mixed with what was. */
async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Error(`Cannot export to "${folder}": it is not empty; name another folder with --to`);
}

/** Those of its history, and the one it aims at, as far as they are still published. */
async function versionsOf(client: Client, { spec, status }: PluginInstallation): Promise<PluginVersion[]> {
  const numbers = [...(status?.history ?? []).map(({ version }) => version), status?.version, status?.target?.version, spec.version];
  const found: PluginVersion[] = [];
  for (const number of new Set(numbers.filter((each) => each !== undefined))) {
    try {
      found.push(await client.resource(PluginVersionKind).get(pluginVersionName(spec.publisher, spec.plugin, number)));
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error;
    }
  }
  return found;
}

async function writeVersion(folder: string, { spec, status }: PluginVersion): Promise<void> {
  if (!INNER_PATH.test(spec.version.replaceAll('+', '_'))) throw new Error(`Cannot export the version "${spec.version}": it is no version`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'plugin.yaml'), stringify(spec.manifest));
  await writeFile(join(folder, 'image.txt'), `${status?.image ?? spec.manifest.spec.runtime.image}\n`);
  for (const [path, text] of Object.entries(spec.files ?? {})) {
    if (!INNER_PATH.test(path)) throw new Error(`Cannot export the file "${path}" of ${spec.version}: it leads out of its folder`);
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Where its secrets are, never what they are. */
function secretsOf(versions: readonly PluginVersion[], tenant: string): string[] {
  const paths = versions.flatMap(({ spec }) =>
    (spec.manifest.spec.secrets ?? []).map(({ name, path = name }) => secretPathOf(spec.plugin, tenant, path)),
  );
  return [...new Set(paths)].toSorted((a, b) => a.localeCompare(b));
}

async function writeDump(file: string, dump: (write: (text: string) => Promise<void>) => Promise<void>): Promise<void> {
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  await once(stream, 'open');
  await dump(async (text) => {
    if (!stream.write(text)) await once(stream, 'drain');
  });
  stream.end();
  await once(stream, 'finish');
}
