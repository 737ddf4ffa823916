import { ARTIFACT_FINALIZER } from '../../../../api/kruntimes.io/v1alpha1/names.ts';
import { isTerminal, isUntouched, phaseOf } from '../../../../api/kruntimes.io/v1alpha1/run-state.ts';
import type { Run, RunStatus } from '../../../../api/kruntimes.io/v1alpha1/run.ts';
import { ORIGINAL_UID, PLACEMENT_FINALIZER } from '../../../../api/tenantry.dev/v1alpha1/cluster-names.ts';
import { mergeDifference } from '../../../../runtime/steps/merge-difference.ts';
import { copiedRunSpec } from './run-copy.ts';

/** What is to be done next about a Run of the host and its copy in the tenant's cluster. Each is one write, on the state it was decided on. */
export type RunMove =
  | { type: 'none' }
  /** The Run becomes the cluster's: from this write on the host's controllers leave it alone. */
  | { type: 'take' }
  | { type: 'create' }
  /** What may change of a spec has changed: whether it is to be cancelled, its priority. */
  | { type: 'adjust' }
  /** What the copy says is written to the original. */
  | { type: 'report'; status: RunStatus }
  /** The Run becomes the host's again. */
  | { type: 'giveBack'; status: RunStatus }
  /** It cannot be known how it ended, or it was ended where it worked. */
  | { type: 'end'; reason: 'PodGone' | 'Cancelled'; message: string }
  /** The copy goes without its artifacts: they are not to be cleaned up, because the Run stays. */
  | { type: 'keepArtifacts' }
  /** Asks the copy to go; one that somebody works on meanwhile stays. */
  | { type: 'removeCopy' }
  | { type: 'freeCopy' }
  | { type: 'freeOriginal' };

export interface RunMoveFacts {
  cluster: string;
  /** Runs of this namespace begin in the cluster; otherwise those that have begun there end there, and the others come back. */
  placed: boolean;
}

const NONE: RunMove = { type: 'none' };

/**
 * A Run executes where it is untouched no longer: the write that takes it and the write that schedules it are both made on the same
 * version, so that only one of them succeeds. What was seen of the copy last is on the original before the copy may go.
 */
export function nextRunMove(original: Run | undefined, copy: Run | undefined, facts: RunMoveFacts): RunMove {
  if (original === undefined) return copy ? drop(copy) : NONE;
  if (copy && copy.metadata.annotations?.[ORIGINAL_UID] !== original.metadata.uid) return drop(copy);
  if (original.metadata.deletionTimestamp !== undefined) {
    if (copy) return drop(copy);
    return isHeld(original) ? { type: 'freeOriginal' } : NONE;
  }
  if (original.status?.placedIn !== facts.cluster) return moveOfOthers(original, copy, facts);
  if (isTerminal(phaseOf(original))) return moveAfterEnd(original, copy, facts);
  return copy ? moveOfPair(original, copy, facts) : moveWithoutCopy(original, facts);
}

/** Some moves are no change of what they were decided on, and right only if it is as it seemed: caches may be behind, so that the server has to be asked. */
export function uncertain({ type }: RunMove, copy: Run | undefined): 'original' | 'copy' | undefined {
  if (type === 'create' || type === 'keepArtifacts' || type === 'removeCopy' || type === 'freeCopy') return 'original';
  return copy === undefined && (type === 'end' || type === 'giveBack' || type === 'freeOriginal') ? 'copy' : undefined;
}

/** It is not the cluster's, or not yet. */
function moveOfOthers(original: Run, copy: Run | undefined, { placed }: RunMoveFacts): RunMove {
  if (copy) return drop(copy);
  if (placed && original.status?.placedIn === undefined && isUntouched(original)) return { type: 'take' };
  return isHeld(original) ? { type: 'freeOriginal' } : NONE;
}

/** The copy is of no more use, but for artifacts, which are cleaned up where they are when the Run is deleted. */
function moveAfterEnd(original: Run, copy: Run | undefined, { placed }: RunMoveFacts): RunMove {
  if (copy && placed && copy.status?.artifactStore !== undefined && copy.metadata.deletionTimestamp === undefined) return NONE;
  // In this order: a copy without its original is found, an original without its copy would be looked for nowhere.
  if (isHeld(original)) return { type: 'freeOriginal' };
  const isKept = copy?.metadata.finalizers?.includes(ARTIFACT_FINALIZER) === true && copy.metadata.deletionTimestamp === undefined;
  if (isKept && !placed) return { type: 'keepArtifacts' };
  return copy ? drop(copy) : NONE;
}

function moveWithoutCopy(original: Run, { cluster, placed }: RunMoveFacts): RunMove {
  if (!isUntouched(original))
    return { type: 'end', reason: 'PodGone', message: `what it became in cluster "${cluster}" is gone with its copy there` };
  return placed ? { type: 'create' } : { type: 'giveBack', status: hostStatus(original.status) };
}

function moveOfPair(original: Run, copy: Run, { cluster, placed }: RunMoveFacts): RunMove {
  const phase = phaseOf(copy);
  if (isTerminal(phase)) return { type: 'report', status: reported(copy, cluster) };
  if (copy.metadata.deletionTimestamp !== undefined) {
    if (phase === 'Pending' && !placed) return { type: 'giveBack', status: hostStatus(copy.status) };
    // It is put back, unless it has begun: that would be once more than it may.
    if (isUntouched(copy)) return isUntouched(original) ? { type: 'freeCopy' } : { type: 'report', status: reported(copy, cluster) };
    return { type: 'end', reason: 'Cancelled', message: `deleted in cluster "${cluster}"` };
  }
  if (phase === 'Pending' && !placed) return { type: 'removeCopy' };
  if (mergeDifference(copy.spec, copiedRunSpec(original.spec)) !== undefined) return { type: 'adjust' };
  const status = reported(copy, cluster);
  return mergeDifference(original.status ?? {}, status) === undefined ? NONE : { type: 'report', status };
}

function drop({ metadata }: Run): RunMove {
  return metadata.deletionTimestamp === undefined ? { type: 'removeCopy' } : { type: 'freeCopy' };
}

function reported(copy: Run, cluster: string): RunStatus {
  return { ...copy.status, phase: phaseOf(copy), placedIn: cluster };
}

/** Pending, on nobody's Pod; how often it was tried is kept. */
function hostStatus(status: RunStatus | undefined): RunStatus {
  const { placedIn: _, assignedPod: _pod, assignedPodUID: _uid, ...rest } = status ?? { phase: 'Pending' };
  return { ...rest, phase: 'Pending' };
}

function isHeld({ metadata }: Run): boolean {
  return metadata.finalizers?.includes(PLACEMENT_FINALIZER) === true;
}
