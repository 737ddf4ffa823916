import { PLATFORM_NAMESPACE } from '../../api/plugins.tenantry.dev/v1alpha1/names.ts';
import { Secret } from '../../client/kinds.ts';
import type { KubeObject } from '../../kube/object.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { pathOf, placeOf, storedAt } from './stored-secrets.ts';

/** Takes a secret, or one property of it, out of the embedded store. */
export async function remove(session: Session, text: string, flags: { tenant: string; property?: string }): Promise<number> {
  const place = placeOf(text, flags.tenant, 'remove');
  const where = { server: session.cluster.server, namespace: PLATFORM_NAMESPACE };
  const { property } = flags;
  await attempting(`remove "${text}"`, where, async () => {
    const existing = await storedAt(session, place);
    if (!existing) throw new Error(`Cannot remove "${text}": there is none; \`tenantry secrets list\` shows what there is`);
    if (property !== undefined && !existing.properties.includes(property)) {
      throw new Error(`Cannot remove the property "${property}" of "${text}": it has ${existing.properties.join(', ')}`);
    }
    const secrets = session.cluster.client.resource<KubeObject>(Secret, PLATFORM_NAMESPACE);
    const name = existing.secret.metadata.name!;
    const isLast = property === undefined || existing.properties.length === 1;
    return isLast ? secrets.delete(name) : secrets.patch(name, { type: 'merge', patch: { data: { [property]: null } } });
  });
  session.out(`${pathOf(place)}${property === undefined ? '' : `: ${property}`} removed\n`);
  return 0;
}
