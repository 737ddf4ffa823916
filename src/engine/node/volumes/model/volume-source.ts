import type { Json } from '../../../../kube/object.ts';

export const SUPPORTED_SOURCES = [
  'emptyDir',
  'configMap',
  'secret',
  'downwardAPI',
  'projected',
  'hostPath',
  'persistentVolumeClaim',
  'ephemeral',
] as const;
export type SupportedSource = (typeof SUPPORTED_SOURCES)[number];

/** What to use in the place of volumes that need a program or a kernel of their own. */
const INSTEAD: Record<string, string> = {
  image: 'copy the files with an init container of that image into an emptyDir',
  gitRepo: 'clone it with an init container into an emptyDir',
  nfs: 'mount the share on the machine and use a hostPath volume',
  csi: 'use a persistentVolumeClaim of the class "local"',
};
const INSTEAD_OF_OTHERS = 'use a persistentVolumeClaim of the class "local", or mount it on the machine and use a hostPath volume';

/** Which source a volume has. @throws Error for those this node does not have */
export function sourceOf(volume: Json): SupportedSource {
  const type = Object.keys(volume).find((field) => field !== 'name' && volume[field] !== undefined);
  const supported = SUPPORTED_SOURCES.find((source) => source === type);
  if (supported) return supported;
  // A volume without any source is an emptyDir.
  if (type === undefined) return 'emptyDir';
  throw new Error(`Cannot mount a volume of type "${type}": this node does not have it; ${INSTEAD[type] ?? INSTEAD_OF_OTHERS}`);
}
