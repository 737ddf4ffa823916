import { TenantKind } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { attempting } from '../terminal/explain.ts';
import { outputFormat, isForPeople, printObjects } from '../terminal/print.ts';
import type { Session } from '../terminal/session.ts';
import { formatTable } from '../terminal/table.ts';
import { tenantRequest, type CreateFlags } from './tenant-request.ts';
import { isReady, waitForTenant } from './wait-for-tenant.ts';

const WAIT_MS = 60_000;

/** Makes a tenant and waits until it can be used. */
export async function create(session: Session, name: string, flags: CreateFlags & { output?: string; wait?: boolean }): Promise<number> {
  const format = outputFormat(flags.output);
  const where = { server: session.cluster.server, namespace: session.namespace };
  const made = await attempting(`create tenant "${name}"`, where, () =>
    session.cluster.client.resource(TenantKind).create(tenantRequest(name, flags)),
  );
  const tenant = flags.wait === false ? made : ((await waitForTenant(session, name, isReady, WAIT_MS)) ?? made);
  if (!isForPeople(format)) {
    await printObjects(session, format, TenantKind, tenant);
    return 0;
  }
  session.out(`tenant ${name} created\n`);
  const owner = flags.owner?.[0];
  session.err(
    [
      '',
      ...formatTable(
        [`  tenantry ns create dev -n ${name}`, `a namespace ${name}--dev below it`],
        [
          ...(owner === undefined ? [] : [[`  tenantry tenant kubeconfig ${name} > ${name}.kubeconfig`, `what ${owner} works with`]]),
          [`  tenantry tenant usage ${name}`, 'what it uses of its quota'],
        ],
      ),
      '',
    ].join('\n'),
  );
  return 0;
}
