import type { Tenant } from '../../../../../api/tenantry.dev/v1alpha1/tenant.ts';
import type { Json, KubeObject } from '../../../../../kube/object.ts';

type Allowed = NonNullable<Tenant['spec']['allowed']>;

/** Our own images are the platform's, not the tenant's. */
const OWN_IMAGES = 'tenantry.dev';
const DOCKER = 'docker.io';

/** Why a Pod spec is not allowed in the tenant; undefined when it is. */
export function podRefusal(spec: Json, allowed: Allowed): string | undefined {
  const { runtimeClassName, priorityClassName } = spec;
  const system = String(priorityClassName ?? '').startsWith('system-') && !allowed.priorityClasses?.includes(priorityClassName);
  if (system) return `priority class "${priorityClassName}" is the platform's; use another`;
  return (
    notListed('runtime class', runtimeClassName, allowed.runtimeClasses) ??
    notListed('priority class', priorityClassName, allowed.priorityClasses) ??
    imageRefusal(spec, allowed.registries)
  );
}

function imageRefusal(spec: Json, registries: readonly string[] | undefined): string | undefined {
  if (!registries) return undefined;
  const containers: Json[] = [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
  const images: (string | undefined)[] = [
    ...containers.map(({ image }) => image),
    ...(spec.volumes ?? []).map(({ image }: Json) => image?.reference),
  ];
  const refused = images.find((image) => image !== undefined && !comesFrom(image, registries));
  return refused === undefined ? undefined : `image "${refused}" is not from an allowed registry; allowed are ${registries.join(', ')}`;
}

function comesFrom(image: string, registries: readonly string[]): boolean {
  const full = fullName(image);
  return [...registries, OWN_IMAGES].some((registry) => full.startsWith(registry.endsWith('/') ? registry : `${registry}/`));
}

/** With the registry that a short name stands for. */
export function fullName(image: string): string {
  const slash = image.indexOf('/');
  const first = slash < 0 ? '' : image.slice(0, slash);
  if (first.includes('.') || first.includes(':') || first === 'localhost') return image;
  return slash < 0 ? `${DOCKER}/library/${image}` : `${DOCKER}/${image}`;
}

export function claimRefusal({ spec }: KubeObject, allowed: Allowed): string | undefined {
  if (!allowed.storageClasses) return undefined;
  const storageClass: string | undefined = spec?.storageClassName;
  if (!storageClass) return `it names no storage class; allowed are ${allowed.storageClasses.join(', ')}`;
  return notListed('storage class', storageClass, allowed.storageClasses);
}

export function ingressRefusal({ metadata, spec }: KubeObject, allowed: Allowed): string | undefined {
  const named: string | undefined = spec?.ingressClassName ?? metadata.annotations?.['kubernetes.io/ingress.class'];
  return notListed('ingress class', named, allowed.ingressClasses);
}

function notListed(what: string, name: string | undefined, allowed: readonly string[] | undefined): string | undefined {
  if (!name || !allowed || allowed.includes(name)) return undefined;
  return `${what} "${name}" is not allowed; allowed are ${allowed.length > 0 ? allowed.join(', ') : 'none'}`;
}
