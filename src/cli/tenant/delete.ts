import { TenantKind, type Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { attempting } from '../terminal/explain.ts';
import type { Session } from '../terminal/session.ts';
import { waitForTenant } from './wait-for-tenant.ts';

const WAIT_MS = 600_000;

/** Deletes a tenant once its name was typed again: there is no way back. */
export async function remove(session: Session, name: string, flags: { confirm?: string; wait?: boolean }): Promise<number> {
  const where = { server: session.cluster.server, namespace: session.namespace };
  const tenants = session.cluster.client.resource(TenantKind);
  const tenant = await attempting(`delete tenant "${name}"`, where, () => tenants.get(name));
  session.err(`${consequences(tenant)}\n`);
  const typed = flags.confirm ?? (await ask(session, `Type the name of the tenant to go on: `));
  if (typed !== name) {
    throw new Error(
      `Cannot delete tenant "${name}": "${typed}" was typed instead of its name; nothing was changed. In scripts: --confirm ${name}`,
    );
  }
  await attempting(`delete tenant "${name}"`, where, () => tenants.delete(name, { preconditions: { uid: tenant.metadata.uid } }));
  if (flags.wait === false || (tenant.spec?.deletion?.gracePeriodSeconds ?? 0) > 0) {
    session.out(`tenant ${name} is being deleted\n`);
    return 0;
  }
  await waitForTenant(session, name, () => false, WAIT_MS);
  session.out(`tenant ${name} deleted\n`);
  return 0;
}

function consequences({ metadata, spec, status }: Tenant): string {
  const count = status?.namespaceCount ?? 0;
  const { policy = 'Delete', gracePeriodSeconds = 0 } = spec?.deletion ?? {};
  const what =
    policy === 'Retain'
      ? `Its ${count} namespaces and what is in them stay, without owners and without the tree.`
      : `Its ${count} namespaces go, with everything in them: ${(status?.namespaces ?? []).slice(0, 10).join(', ')}${count > 10 ? ', …' : ''}.`;
  const when = gracePeriodSeconds > 0 ? ` For ${gracePeriodSeconds} seconds it is only suspended.` : '';
  return `Tenant "${metadata.name}" will be deleted. ${what}${when} This cannot be undone.`;
}

async function ask(session: Session, question: string): Promise<string> {
  if (!session.errIsTerminal) return '';
  session.err(question);
  return (await session.line()).trim();
}
