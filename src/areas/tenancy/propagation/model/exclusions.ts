import type { KubeObject } from '../../../../kube/object.ts';
import type { PropagationSettings } from './propagation-settings.ts';

/** Made in every namespace by those who need them there. */
const CONFIG_MAPS = new Set(['istio-ca-root-cert', 'kube-root-ca.crt']);
/** What Helm remembers of a release, and identities, belong to one namespace. */
const SECRET_TYPES = new Set(['helm.sh/release.v1', 'kubernetes.io/service-account-token']);
const ANNOTATIONS = ['openshift.io/description'];

/** Objects that are never copied, whatever their author says. */
export function isExcluded(object: KubeObject, settings: PropagationSettings): boolean {
  const { apiVersion, kind, metadata } = object;
  // What a controller must clean up cannot be copied: the copies would wait for it for ever.
  if (metadata.finalizers?.length) return true;
  if (apiVersion === 'v1' && kind === 'ConfigMap' && CONFIG_MAPS.has(metadata.name!)) return true;
  if (apiVersion === 'v1' && kind === 'Secret' && SECRET_TYPES.has(object.type)) return true;
  const { labels, annotations } = metadata;
  if (labels && settings.noPropagationLabels.some(({ key, value }) => labels[key] === value)) return true;
  return annotations !== undefined && ANNOTATIONS.some((key) => annotations[key] !== undefined);
}
