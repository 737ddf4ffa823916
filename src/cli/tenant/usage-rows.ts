import { NAMESPACES_BELOW, RUNS_IN_FLIGHT } from '../../api/tenantry.dev/v1alpha1/names.ts';
import type { Tenant } from '../../api/tenantry.dev/v1alpha1/tenant.ts';
import { Quantity } from '../../kube/quantity.ts';
import type { Cell } from '../terminal/table.ts';

export const USAGE_HEADER = ['RESOURCE', 'USED', 'LIMIT', ''];
const BAR = 20;
const NEARLY_FULL = 0.9;

/** What a tenant uses of what it may. */
export function usageRows({ status }: Tenant): Cell[][] {
  return Object.entries(status?.usage ?? {})
    .map(([resource, { hard, used = '0' }]) =>
      resource === NAMESPACES_BELOW ? withRoot(used, hard) : [resourceText(resource), used, hard],
    )
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([resource, used, hard]) => [resource, used, hard, bar(used, hard)]);
}

/** What people call it. */
export function resourceText(resource: string): string {
  return resource === RUNS_IN_FLIGHT ? 'runs in flight' : resource;
}

/** The root is not below itself, and counts for the tenant all the same. */
function withRoot(used: string, hard: string): string[] {
  return ['namespaces', ...[used, hard].map((count) => String(Number(count) + 1))];
}

function bar(used: string, hard: string): Cell {
  const limit = Quantity.parse(hard).nano;
  const share = limit === 0n ? 1 : Number((Quantity.parse(used).nano * 1000n) / limit) / 1000;
  const full = Math.min(BAR, Math.round(share * BAR));
  const text = `${'█'.repeat(full)}${'·'.repeat(BAR - full)} ${Math.round(share * 100)}%`;
  return { text, colour: share >= 1 ? 'red' : share >= NEARLY_FULL ? 'yellow' : 'green' };
}
