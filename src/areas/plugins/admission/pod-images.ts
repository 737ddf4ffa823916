import type { PluginVersion } from '../../../api/plugins.tenantry.dev/v1alpha1/plugin-version.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { readReference, repositoryName } from '../../../lib/oci/reference.ts';

/** Which plugin a namespace is for, by the labels that only the platform writes. */
export interface PluginOfNamespace {
  publisher: string;
  plugin: string;
}

/** What admission needs to know of a version. */
export type VersionFacts = Pick<PluginVersion, 'spec' | 'status'>;

interface UsedImage {
  /** `container "app"`. */
  where: string;
  image: string;
}

/** Every image that a Pod brings onto a node. */
export function imagesOf(pod: KubeObject | null | undefined): UsedImage[] {
  const { containers = [], initContainers = [], ephemeralContainers = [], volumes = [] } = (pod?.spec ?? {}) as PodImages;
  const lists: [string, Container[]][] = [
    ['init container', initContainers],
    ['container', containers],
    ['ephemeral container', ephemeralContainers],
  ];
  return [
    ...lists.flatMap(([what, list]) => list.map(({ name, image = '' }) => ({ where: `${what} "${name}"`, image }))),
    ...volumes.flatMap(({ name, image }) => (image ? [{ where: `volume "${name}"`, image: image.reference ?? '' }] : [])),
  ];
}

interface Container {
  name?: string;
  image?: string;
}
interface PodImages {
  containers?: Container[];
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  volumes?: { name?: string; image?: { reference?: string } }[];
}

/**
 * Why a Pod may not run in the namespace of a plugin; undefined when it may. What ran before is not judged again: a Pod whose version was
 * revoked must still be possible to change and to delete.
 */
export function podProblem(
  pod: KubeObject,
  before: KubeObject | null | undefined,
  { publisher, plugin }: PluginOfNamespace,
  versions: readonly VersionFacts[],
): string | undefined {
  const known = new Set(imagesOf(before).map(({ image }) => image));
  const own = versions.filter(({ spec }) => spec.publisher === publisher && spec.plugin === plugin);
  for (const { where, image } of imagesOf(pod)) {
    if (known.has(image)) continue;
    const why = imageProblem(image, own);
    if (why !== undefined) return `Cannot run the image "${image.slice(0, 300)}" in ${where}: ${why}`;
  }
  return undefined;
}

function imageProblem(image: string, versions: readonly VersionFacts[]): string | undefined {
  const reference = readReference(image);
  if (typeof reference === 'string') return `it is no image (${reference})`;
  if (reference.digest === undefined) {
    return 'it is named by a tag, which may mean another image tomorrow; only digests of verified versions run here';
  }
  const pinned = `${repositoryName(reference)}@${reference.digest}`;
  const same = versions.filter(({ status }) => status?.image === pinned);
  if (same.some(({ status }) => status?.phase === 'VERIFIED')) return undefined;
  if (same.length === 0) return 'it is no version of this plugin; publish it, and it is verified';
  const [{ spec, status }] = same;
  return `version ${spec.version} is ${status?.phase ?? 'DRAFT'}, not VERIFIED; see \`kubectl describe pluginversion\``;
}
