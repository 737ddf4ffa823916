import { HncConfigurationKind, MODES, type PropagationMode } from '../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { CONFIG_NAME } from '../../api/hnc.x-k8s.io/v1alpha2/names.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';

/** Which kinds of objects are copied down the tree. */
export async function describeConfig(session: Session): Promise<number> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  const { status } = await attempting('read the configuration of copies', where, () =>
    session.cluster.client.resource(HncConfigurationKind).get(CONFIG_NAME),
  );
  const rows = (status?.resources ?? []).map((each) => [
    each.group === '' ? each.resource : `${each.resource}.${each.group}`,
    each.mode ?? 'Propagate',
    each.numSourceObjects === undefined ? '-' : String(each.numSourceObjects),
    each.numPropagatedObjects === undefined ? '-' : String(each.numPropagatedObjects),
  ]);
  for (const line of formatTable(['RESOURCE', 'MODE', 'SOURCES', 'COPIES'], rows, { isColoured: session.isColoured }))
    session.out(`${line}\n`);
  for (const { type, reason, message } of status?.conditions ?? []) session.err(`${type} (${reason}): ${message}\n`);
  return 0;
}

/** Sets how a kind of object is copied. */
export async function setResource(
  session: Session,
  resource: string,
  flags: { group?: string; mode?: string; force?: boolean },
): Promise<number> {
  const mode = MODES.find((each) => each.toLowerCase() === (flags.mode ?? '').toLowerCase());
  if (!mode)
    throw new Error(`Cannot copy "${resource}" in mode "${flags.mode ?? ''}": the modes are ${MODES.join(', ')}; choose one with --mode`);
  const configurations = session.cluster.client.resource(HncConfigurationKind);
  const where = { server: session.cluster.server, namespace: session.namespace };
  await attempting(`set the mode of "${resource}"`, where, async () => {
    const config = await configurations.get(CONFIG_NAME);
    const group = flags.group ?? '';
    const others = (config.spec?.resources ?? []).filter((each) => each.resource !== resource || (each.group ?? '') !== group);
    const before = config.spec?.resources?.find((each) => !others.includes(each))?.mode ?? 'Ignore';
    refuseSurprise(resource, before, mode, flags.force === true);
    await configurations.update({ ...config, spec: { ...config.spec, resources: [...others, { group, resource, mode }] } });
  });
  session.out(`${resource} set to ${mode}\n`);
  return 0;
}

/** Objects of the same name below would be overwritten; who wants that says so. */
function refuseSurprise(resource: string, before: PropagationMode, mode: PropagationMode, isForced: boolean): void {
  const copies = (each: PropagationMode) => each === 'Propagate' || each === 'AllowPropagate';
  if (isForced || !copies(mode) || before !== 'Ignore') return;
  throw new Error(
    `Cannot switch "${resource}" from Ignore to ${mode} unasked: copies from before that are no longer kept would be overwritten or removed; go through Remove first, or add --force`,
  );
}

export async function deleteType(session: Session, resource: string, flags: { group?: string }): Promise<number> {
  const configurations = session.cluster.client.resource(HncConfigurationKind);
  const where = { server: session.cluster.server, namespace: session.namespace };
  await attempting(`forget the mode of "${resource}"`, where, async () => {
    const config = await configurations.get(CONFIG_NAME);
    const group = flags.group ?? '';
    const rest = (config.spec?.resources ?? []).filter((each) => each.resource !== resource || (each.group ?? '') !== group);
    await configurations.update({ ...config, spec: { ...config.spec, resources: rest } });
  });
  session.out(`${resource} is no longer copied\n`);
  return 0;
}
