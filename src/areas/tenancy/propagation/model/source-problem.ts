import type { PropagationMode } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { exceptionsOf, UnreadableException, type Exceptions } from './exceptions.ts';
import { propagates } from './goes-to.ts';

/** Why a source goes nowhere although somebody would expect it to, as the event about it says. */
export function sourceProblem(source: KubeObject, mode: PropagationMode): { reason: string; message: string } | undefined {
  if (!propagates(mode)) return undefined;
  let exceptions: Exceptions;
  try {
    exceptions = exceptionsOf(source);
  } catch (error) {
    if (error instanceof UnreadableException) return { reason: 'CannotParseSelector', message: error.message };
    throw error;
  }
  const { select, treeSelect, none, all } = exceptions;
  const isMeantToGo = !none && (mode === 'Propagate' || all || select !== undefined || treeSelect !== undefined);
  if (!isMeantToGo || !source.metadata.finalizers?.length) return undefined;
  return { reason: 'CannotPropagateObject', message: 'Objects with finalizers cannot be propagated' };
}
