import { createHash } from 'node:crypto';
import type { Runtime } from '../../../../../api/kruntimes.io/v1alpha1/runtime.ts';

export const RUNTIMED_ROLE = 'kruntimes-runtimed';

export function deploymentName(runtime: string): string {
  return `runtime-${runtime}`.toLowerCase();
}

/** The template's own, or one for all Runtimes of the namespace. */
export function serviceAccountOf(runtime: Runtime): string {
  return runtime.spec.template.spec['serviceAccountName'] || RUNTIMED_ROLE;
}

/** At most 63 characters: longer ones are cut and told apart by a hash. */
export function roleBindingName(serviceAccount: string): string {
  const name = `${RUNTIMED_ROLE}-${serviceAccount}`;
  if (name.length <= 63) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 10);
  return `${name.slice(0, 63 - 11)}-${hash}`;
}
