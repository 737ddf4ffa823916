import type { Json, KubeObject } from '../../../../kube/object.ts';

const CONTAINER_LISTS = [
  ['initContainers', 'init container'],
  ['containers', 'container'],
] as const;

/** Whether a pod uses any Secret at all: mirror pods may not. */
export function referencesSecrets(spec: Json): boolean {
  if (spec.imagePullSecrets?.some((reference: Json) => reference.name)) return true;
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
  return containers.some((container) => containerSecrets(container).length > 0) || (spec.volumes ?? []).some(volumeUsesSecret);
}

function volumeUsesSecret(volume: Json): boolean {
  if (volume.projected) return volume.projected.sources?.some((source: Json) => source.secret?.name) ?? false;
  if (volume.secret?.secretName || volume.azureFile?.secretName || volume.csi?.nodePublishSecretRef?.name) return true;
  return ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].some((source) => volume[source]?.secretRef?.name);
}

/** Every Secret a container's environment names, with the words a refusal uses for the place. */
function containerSecrets(container: Json): { name: string; place: string }[] {
  const found: { name: string; place: string }[] = [];
  for (const env of container.env ?? []) {
    const name = env.valueFrom?.secretKeyRef?.name;
    if (name) found.push({ name, place: `envVar ${env.name}` });
  }
  for (const source of container.envFrom ?? []) {
    if (source.secretRef?.name) found.push({ name: source.secretRef.name, place: 'envFrom' });
  }
  return found;
}

/** What a pod may not reference because its service account, which insists on that, does not list it; undefined when all is fine. */
export function disallowedReference(account: KubeObject, spec: Json): string | undefined {
  const mountable = names(account.secrets);
  for (const volume of spec.volumes ?? []) {
    const name = volume.secret?.secretName;
    if (name !== undefined && !mountable.has(name)) {
      return `volume with secret.secretName="${name}" is not allowed because service account ${account.metadata.name} does not reference that secret`;
    }
  }
  for (const [list, label] of CONTAINER_LISTS) {
    const refused = disallowedInContainers(account, spec[list], label);
    if (refused) return refused;
  }
  return disallowedPullSecret(account, spec.imagePullSecrets);
}

export function disallowedInContainers(account: KubeObject, containers: Json[] | undefined, label: string): string | undefined {
  const mountable = names(account.secrets);
  for (const container of containers ?? []) {
    for (const { name, place } of containerSecrets(container)) {
      if (mountable.has(name)) continue;
      const verb = place === 'envFrom' ? 'with envFrom referencing' : `with ${place} referencing`;
      return `${label} ${container.name} ${verb} secret.secretName="${name}" is not allowed because service account ${account.metadata.name} does not reference that secret`;
    }
  }
  return undefined;
}

function disallowedPullSecret(account: KubeObject, references: Json[] | undefined): string | undefined {
  const allowed = names(account.imagePullSecrets);
  const index = (references ?? []).findIndex((reference) => !allowed.has(reference.name));
  if (index < 0) return undefined;
  return `imagePullSecrets[${index}].name="${references![index].name}" is not allowed because service account ${account.metadata.name} does not reference that imagePullSecret`;
}

function names(references: Json[] | undefined): Set<string> {
  return new Set((references ?? []).map((reference) => reference.name));
}
