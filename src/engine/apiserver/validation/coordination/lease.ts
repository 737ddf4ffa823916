import { isQualifiedName } from '../../../../kube/names.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { path } from '../path.ts';

const SPEC = path('spec');
const STRATEGIES = ['OldestEmulationVersion'];

export function validateLease(out: Findings, lease: KubeObject): void {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions, strategy, preferredHolder } = lease.spec ?? {};
  if (duration <= 0) out.invalid(SPEC.child('leaseDurationSeconds'), duration, 'must be greater than 0');
  if (transitions < 0) out.invalid(SPEC.child('leaseTransitions'), transitions, 'must be greater than or equal to 0');
  if (strategy !== undefined) {
    const at = SPEC.child('strategy', 'strategy');
    if (strategy.includes('/')) out.invalidEach(at, strategy, isQualifiedName(strategy));
    else if (!STRATEGIES.includes(strategy)) out.notSupported(at, strategy, STRATEGIES);
  }
  if (preferredHolder && !strategy) out.forbidden(SPEC.child('preferredHolder'), 'may only be specified if `strategy` is defined');
}
