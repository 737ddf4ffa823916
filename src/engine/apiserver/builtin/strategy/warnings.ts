import { quote } from '../../../../kube/go-text.ts';
import { isDns1123Label } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import { qualifiedPorts } from './port-warnings.ts';

/** Advice about objects that are accepted, in kube-apiserver's words: what people meet when they write manifests by hand. */

type Advise = (object: Json, old: Json) => string[];

function nameAdvice(name: string, use: string): string[] {
  const found = isDns1123Label(name);
  if (found.length === 0) return [];
  return [
    `metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: [${found.join(' ')}]`,
  ];
}

/** What is odd about the containers of a Pod; `at` leads to its spec. */
export function podSpecAdvice(spec: Json, at: string): string[] {
  const groups: [string, Json[]][] = [
    ['initContainers', spec?.initContainers ?? []],
    ['containers', spec?.containers ?? []],
  ];
  const containers = groups.flatMap(([field, list]) =>
    list.map((container, index): [string, Json] => [`${at}.${field}[${index}]`, container]),
  );
  return [...containers.flatMap(([path, container]) => environmentAdvice(container.env ?? [], path)), ...qualifiedPorts(containers)];
}

function environmentAdvice(variables: Json[], at: string): string[] {
  const seen = new Set<string>();
  const found: string[] = [];
  variables.forEach(({ name, value = '', valueFrom }, index) => {
    const reference = `$(${name})`;
    const isHiding = valueFrom !== undefined || value === reference || !value.includes(reference);
    if (seen.has(name) && isHiding) {
      found.push(`${at}.env[${index}]: hides previous definition of ${quote(name)}, which may be dropped when using apply`);
    }
    seen.add(name);
  });
  return found;
}

export const podAdvice: Advise = (pod, old) =>
  // Pods are updated often and by machines: only those who create them are told.
  old === undefined ? [...nameAdvice(pod.metadata.name ?? '', "the Pod's hostname"), ...podSpecAdvice(pod.spec, 'spec')] : [];

/** For kinds that make Pods from a template; `at` leads to it. Not all of them point out their names. */
export function templateAdvice(at: string, aboutName = true): Advise {
  const path = at.split('.');
  return (object, old) => {
    if (old !== undefined && old.metadata.generation === object.metadata.generation) return [];
    let template = object;
    for (const field of path) template = template?.[field];
    const names = aboutName && old === undefined ? nameAdvice(object.metadata.name ?? '', 'Pod names and hostnames') : [];
    return [...names, ...podSpecAdvice(template?.spec, `${at}.spec`)];
  };
}

export const serviceAdvice: Advise = ({ spec }) => {
  const found: string[] = [];
  if (spec.type === 'ClusterIP' && spec.clusterIP === 'None') {
    if (spec.loadBalancerIP) found.push('spec.loadBalancerIP is ignored for headless services');
    if (spec.externalIPs?.length > 0) found.push('spec.externalIPs is ignored for headless services');
    if (spec.sessionAffinity !== 'None') found.push('spec.SessionAffinity is ignored for headless services');
  }
  const isName = spec.type === 'ExternalName';
  if (isName && spec.externalIPs?.length > 0) found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isName && spec.externalName) found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec.trafficDistribution === 'PreferClose') {
    found.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return found;
};
