import { runtimeAccessPolicy } from '../areas/runs/access/runtime-access.ts';
import { runsRights } from '../areas/runs/runs-rights.ts';
import { GROUP } from '../api/kruntimes.io/v1alpha1/group.ts';
import type { Client } from '../client/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { installObjects } from './areas.ts';

/** Makes Runs and Runtimes known in a tenant's cluster, with the rights of those who work on them. */
export async function installRuns(tenantClient: Client, definitions: readonly KubeObject[]): Promise<void> {
  await installObjects(
    tenantClient,
    definitions.filter(({ spec }) => spec?.group === GROUP),
  );
  await installObjects(tenantClient, [...runsRights(), ...runtimeAccessPolicy()]);
}
