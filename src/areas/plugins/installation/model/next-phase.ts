import { INSTALLATION_TRANSITIONS, mayFollow, type InstallationState } from '../../../../api/plugins.tenantry.dev/v1alpha1/states.ts';
import type { Outcome } from '../../../../runtime/steps/outcome.ts';

export interface Situation {
  phase: InstallationState | undefined;
  isDeleted: boolean;
  /** And nothing of it runs any more. */
  isSuspended: boolean;
  isRollback: boolean;
  /** A version was healthy here before. */
  wasActive: boolean;
  /** The version at work is not the wanted one. */
  changesVersion: boolean;
  outcome: Pick<Outcome, 'type'>;
}

/** The states to go through from here, the last being the one to stay in; empty when the phase is right. */
export function nextPhases(situation: Situation): InstallationState[] {
  const { phase } = situation;
  const next = phaseFor(situation);
  if (next === phase) return [];
  if (mayFollow(INSTALLATION_TRANSITIONS, phase, next)) return [next];
  // What failed is on its way again before it is anywhere.
  const through: InstallationState = situation.wasActive ? 'UPGRADING' : 'INSTALLING';
  const passes = mayFollow(INSTALLATION_TRANSITIONS, phase, through) && mayFollow(INSTALLATION_TRANSITIONS, through, next);
  return passes ? [through, next] : [];
}

function phaseFor({ phase, isDeleted, isSuspended, isRollback, wasActive, changesVersion, outcome }: Situation): InstallationState {
  if (isDeleted) return 'UNINSTALLING';
  // Whatever else is wrong with it: that is for when it is resumed.
  if (isSuspended) return 'SUSPENDED';
  if (outcome.type === 'stalled') return 'FAILED';
  if (outcome.type === 'done') return isRollback ? 'ROLLED_BACK' : 'ACTIVE';
  if (!wasActive) return 'INSTALLING';
  if (phase === 'FAILED' || changesVersion) return 'UPGRADING';
  // At work, with something to repair: its conditions tell.
  return phase ?? 'INSTALLING';
}
