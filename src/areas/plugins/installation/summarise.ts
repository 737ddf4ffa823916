import { InstallationCondition, InstallationReason } from '../../../api/plugins.tenantry.dev/v1alpha1/reasons.ts';
import type { PluginInstallation } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-installation.ts';
import type { PluginVersion } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { InstallationState } from '../../../api/plugins.tenantry.dev/v1alpha1/states.ts';
import { findCondition, removeCondition, setCondition } from '../../../kube/conditions.ts';
import type { Outcome } from '../../../runtime/steps/outcome.ts';
import { withRevision } from './model/history.ts';
import { nextPhases } from './model/next-phase.ts';
import { isRollingBack } from './model/wanted-version.ts';

export interface Transition {
  from: InstallationState | undefined;
  to: InstallationState;
  reason: string;
  message: string;
}

export interface Facts {
  /** What it aims at, when that is known. */
  version: PluginVersion | undefined;
  isSuspended: boolean;
  /** None of its Pods is left. */
  isStopped: boolean;
  now: number;
}

/** Sums up in the status what became of the steps. @returns the transitions, to be told */
export function summarise(draft: PluginInstallation, outcome: Outcome, facts: Facts): Transition[] {
  const { version, isSuspended, isStopped, now } = facts;
  const { spec, metadata } = draft;
  const status = (draft.status ??= {});
  const from = status.phase;
  const isDeleted = metadata.deletionTimestamp !== undefined;
  // A rollback that was refused leaves the phase what it was.
  const isHeld = spec.rollback !== undefined && from === 'ROLLED_BACK';
  const isRollback = isRollingBack(draft) || isHeld || status.rejected !== undefined;
  const changesVersion = status.version !== undefined && status.version !== status.target?.version;
  const wasActive = (status.history ?? []).length > 0;
  const isAtWork = outcome.type === 'done' && !isDeleted;
  const phases = nextPhases({
    phase: from,
    isDeleted,
    isSuspended: isSuspended && isStopped,
    isRollback,
    wasActive,
    changesVersion,
    outcome,
  });
  if (isAtWork && version?.status?.image && !isSuspended) {
    Object.assign(status, { version: version.spec.version, image: version.status.image });
    const at = { version: version.spec.version, image: version.status.image, now, isRollback };
    status.history = withRevision(status.history ?? [], at);
  }
  status.phase = phases.at(-1) ?? from;
  // One that was taken back by itself says why for as long as it is, and so does one that cannot be rolled back.
  const refused = findCondition(status.conditions, InstallationCondition.RollbackAccepted);
  const told = (isAtWork && (refused ?? status.rejected)) || outcome;
  status.reason = told.reason;
  status.message = told.message;
  status.imageStatus = imageStatusOf(outcome, isSuspended, wasActive);
  reportTools(draft, version, now);
  return phases.map((to, index) => ({
    from: index === 0 ? from : phases[index - 1],
    to,
    reason: told.reason,
    message: told.message,
  }));
}

/** No Pod starts with a bad signature, so nothing is pulled; users of the original look for this word all the same. */
function imageStatusOf(outcome: Outcome, isSuspended: boolean, wasActive: boolean): string {
  if (outcome.reason === InstallationReason.SignatureInvalid) return 'ImagePullBackOff';
  if (isSuspended) return 'Suspended';
  return outcome.type === 'done' || wasActive ? 'Running' : 'Pending';
}

function reportTools({ metadata, status }: PluginInstallation, version: PluginVersion | undefined, now: number): void {
  const conditions = (status!.conditions ??= []);
  const tools = version?.spec.manifest.spec.mcpTools?.length ?? 0;
  if (tools === 0) {
    if (version) removeCondition(conditions, InstallationCondition.ToolsRegistered);
    return;
  }
  const what = tools === 1 ? 'its tool is' : `its ${tools} tools are`;
  const message = `${what} called by path through the gateway; this release has no registry where models find tools`;
  setCondition(
    conditions,
    {
      type: InstallationCondition.ToolsRegistered,
      status: 'False',
      reason: InstallationReason.NoToolRegistry,
      message,
      observedGeneration: metadata.generation,
    },
    new Date(now),
  );
}
