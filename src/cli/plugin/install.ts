import { RETRY_ANNOTATION } from '../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { PluginInstallationKind, type PluginInstallation } from '../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { isSettled, tellResult, waitForInstallation } from './wait-for-installation.ts';

export interface InstallFlags {
  tenant: string;
  name?: string;
  wait?: boolean;
}

/** `acme/hello@1.2.0`: whose, what, which. */
export function parsePlugin(text: string): { publisher: string; plugin: string; version?: string } {
  const match = /^([a-z][-a-z0-9]*)\/([a-z][-a-z0-9]*)(?:@(.+))?$/.exec(text);
  if (!match) throw new Error(`Cannot install "${text}": it is no plugin; write publisher/plugin or publisher/plugin@version`);
  const [, publisher, plugin, version] = match;
  return version === undefined ? { publisher, plugin } : { publisher, plugin, version };
}

export async function install(session: Session, text: string, { tenant, name, wait }: InstallFlags): Promise<number> {
  const spec = parsePlugin(text);
  const named = name ?? spec.plugin;
  const where = { server: session.cluster.server, namespace: tenant };
  const installations = session.cluster.client.resource(PluginInstallationKind, tenant);
  await attempting(`install "${text}"`, where, () => installations.create({ metadata: { name: named }, spec }));
  return finish(session, tenant, named, wait);
}

/** Another version for a plugin that is there; takes back a rollback. */
export async function upgrade(
  session: Session,
  name: string,
  { tenant, to, wait }: { tenant: string; to: string; wait?: boolean },
): Promise<number> {
  // Also when it was taken back before: whoever asks for it wants it tried again.
  const metadata = { annotations: { [RETRY_ANNOTATION]: String(session.clock.now()) } };
  await change(session, `upgrade plugin "${name}"`, tenant, name, { version: to, rollback: null }, metadata);
  return finish(session, tenant, name, wait);
}

export async function rollback(
  session: Session,
  name: string,
  { tenant, to, wait }: { tenant: string; to?: string; wait?: boolean },
): Promise<number> {
  const where = { server: session.cluster.server, namespace: tenant };
  const installations = session.cluster.client.resource(PluginInstallationKind, tenant);
  const { spec, status }: PluginInstallation = await attempting(`roll back plugin "${name}"`, where, () => installations.get(name));
  const request = Math.max(spec.rollback?.request ?? 0, status?.observedRollback ?? 0) + 1;
  await change(session, `roll back plugin "${name}"`, tenant, name, { rollback: { request, to: to ?? null } });
  return finish(session, tenant, name, wait);
}

async function change(session: Session, what: string, tenant: string, name: string, spec: object, metadata = {}): Promise<void> {
  const where = { server: session.cluster.server, namespace: tenant };
  const installations = session.cluster.client.resource(PluginInstallationKind, tenant);
  await attempting(what, where, () => installations.patch(name, { type: 'merge', patch: { metadata, spec } }));
}

async function finish(session: Session, tenant: string, name: string, wait: boolean | undefined): Promise<number> {
  if (wait !== false) return tellResult(session, name, await waitForInstallation(session, { tenant, name }, isSettled));
  session.out(`plugin ${name} is on its way\n`);
  return 0;
}
