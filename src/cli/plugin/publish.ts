import { RECHECK_ANNOTATION } from '../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginVersionKind, pluginVersionName, type PluginVersion } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import { findCondition } from '../../kube/conditions.ts';
import { deepEqual } from '../../kube/json-value.ts';
import { isStatusError } from '../../kube/status.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { readGoodPlugin } from './lint.ts';

const WAIT_MS = 60_000;

/** Makes a version of a plugin known, and waits until it is verified. Doing it again has it looked at again. @returns the exit code */
export async function publish(session: Session, path: string, { wait }: { wait?: boolean }): Promise<number> {
  const { manifest, files } = await readGoodPlugin(path, `publish "${path}"`);
  const { name: plugin, version, publisher } = manifest.metadata;
  const spec = { publisher, plugin, version, manifest, ...(Object.keys(files).length > 0 ? { files } : {}) };
  const name = pluginVersionName(publisher, plugin, version);
  const shown = `${publisher}/${plugin}@${version}`;
  const where = { server: session.cluster.server, namespace: session.namespace };
  const asked = await attempting(`publish ${shown}`, where, () => createOrRecheck(session, name, spec, shown));
  session.out(`${shown} published\n`);
  return wait === false ? 0 : tellVerdict(session, asked, shown);
}

async function createOrRecheck(session: Session, name: string, spec: PluginVersion['spec'], shown: string): Promise<PluginVersion> {
  const versions = session.cluster.client.resource(PluginVersionKind);
  const annotations = { [RECHECK_ANNOTATION]: new Date(session.clock.now()).toISOString() };
  try {
    return await versions.create({ metadata: { name, annotations }, spec });
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error;
  }
  const existing = await versions.get(name);
  if (!deepEqual(existing.spec, spec)) {
    throw new Error(`Cannot publish ${shown}: that version is published with other content; raise metadata.version`);
  }
  return versions.patch(name, { type: 'merge', patch: { metadata: { annotations } } });
}

/** Waits for what the controller says after it was asked. */
async function tellVerdict(session: Session, asked: PluginVersion, shown: string): Promise<number> {
  const name = asked.metadata.name!;
  const signal = AbortSignal.timeout(WAIT_MS);
  const recheck = asked.metadata.annotations?.[RECHECK_ANNOTATION];
  let last = asked;
  try {
    const options = { fieldSelector: `metadata.name=${name}`, resourceVersion: asked.metadata.resourceVersion, signal };
    for await (const update of session.cluster.client.resource(PluginVersionKind).watch(options)) {
      if (!('object' in update) || update.object.metadata.name !== name) continue;
      last = update.object;
      if (last.status?.observedRecheck === recheck) break;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const { phase, image } = last.status ?? {};
  if (phase === 'VERIFIED') {
    session.out(`${shown} is VERIFIED: ${image}\n`);
    return 0;
  }
  const why = findCondition(last.status?.conditions, 'Ready')?.message ?? 'nobody has looked at it yet; is the platform running?';
  session.err(`${shown} is ${phase ?? 'not looked at'}: ${why}\n`);
  return 1;
}
