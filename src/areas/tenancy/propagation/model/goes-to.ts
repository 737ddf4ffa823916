import type { PropagationMode } from '../../../../api/hnc.x-k8s.io/v1alpha2/hnc-configuration.ts';
import { PROPAGATE_TO_PLATFORM } from '../../../../api/tenantry.dev/v1alpha1/names.ts';
import type { Labels } from '../../../../kube/label-selector.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { exceptionsOf } from './exceptions.ts';
import { isExcluded } from './exclusions.ts';
import type { PropagationSettings } from './propagation-settings.ts';

/** A namespace below that of the source, as far as it decides about copies. */
export interface Destination {
  readonly labels: Labels;
  /** Set on a tenant's namespaces that are not its owners'. */
  readonly role: string | undefined;
}

/**
 * Whether a source object is copied into a namespace below its own. In this order, as HNC has it: selectors that do not match, `none`,
 * what is never copied; and then everything in mode Propagate, what its author asked for in mode AllowPropagate.
 * @throws UnreadableException
 */
export function goesTo(source: KubeObject, destination: Destination, mode: PropagationMode, settings: PropagationSettings): boolean {
  if (!propagates(mode)) return false;
  const { select, treeSelect, none, all } = exceptionsOf(source);
  if (select && !select.matches(destination.labels)) return false;
  if (treeSelect && !treeSelect.matches(destination.labels)) return false;
  if (none || isExcluded(source, settings)) return false;
  if (destination.role !== undefined && !reachesPlatform(source)) return false;
  return mode === 'Propagate' || all || select !== undefined || treeSelect !== undefined;
}

export function propagates(mode: PropagationMode): boolean {
  return mode === 'Propagate' || mode === 'AllowPropagate';
}

/** Vouched for by the platform: only it may write the annotation. */
function reachesPlatform({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[PROPAGATE_TO_PLATFORM] === 'true';
}

/** An empty mode is Propagate; one that we do not know changes nothing. */
export function modeOf(text: string | undefined): PropagationMode {
  if (!text) return 'Propagate';
  return text === 'Propagate' || text === 'AllowPropagate' || text === 'Remove' ? text : 'Ignore';
}
