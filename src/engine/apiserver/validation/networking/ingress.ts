import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isPathSegmentName,
  isWildcardDns1123Subdomain,
} from '../../../../kube/names.ts';
import { parseIp } from '../../../../kube/ip.ts';
import { isPortName, isPortNumber } from '../../../../kube/ports.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { Findings } from '../findings.ts';
import { checkDomainPrefixedPath, checkImmutable, checkLegacyIp } from '../formats.ts';
import { path, type Path } from '../path.ts';

const SPEC = path('spec');
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];

interface Tolerated {
  secretNames: boolean;
  wildcardRules: boolean;
  serviceNames: boolean;
}

export function validateIngress(out: Findings, ingress: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return checkLoadBalancer(out, ingress, old);
  const spec = ingress.spec ?? {};
  checkSpec(out, spec, toleratedFor(old));
  const annotation = ingress.metadata.annotations?.[CLASS_ANNOTATION];
  if (old === undefined && annotation !== undefined && spec.ingressClassName !== undefined && annotation !== spec.ingressClassName) {
    out.invalid(path('annotations', CLASS_ANNOTATION), annotation, 'must match `ingressClassName` when both are specified');
  }
}

function toleratedFor(old: KubeObject | undefined): Tolerated {
  const none = { secretNames: false, wildcardRules: false, serviceNames: false };
  if (old === undefined) return none;
  const { tls = [], rules = [], defaultBackend } = old.spec ?? {};
  const backends: Json[] = [defaultBackend ?? {}, ...rules.flatMap((r: Json) => (r.http?.paths ?? []).map((p: Json) => p.backend ?? {}))];
  return {
    secretNames: tls.some((t: Json) => t.secretName && isDns1123Subdomain(t.secretName).length > 0),
    wildcardRules: rules.some((rule: Json) => {
      const findings = new Findings();
      if (rule.host?.includes('*')) checkHttp(findings, rule.http, SPEC, none);
      return findings.count > 0;
    }),
    serviceNames: backends.some(({ service }) => {
      const name: string | undefined = service?.name;
      return name !== undefined && isDns1123Label(name).length === 0 && isDns1035Label(name).length > 0;
    }),
  };
}

function checkSpec(out: Findings, spec: Json, tolerated: Tolerated): void {
  const { rules = [], defaultBackend, tls = [], ingressClassName } = spec;
  if (rules.length === 0 && defaultBackend === undefined) {
    out.invalid(SPEC, spec.rules, 'either `defaultBackend` or `rules` must be specified');
  }
  if (defaultBackend !== undefined) checkBackend(out, defaultBackend, SPEC.child('defaultBackend'), tolerated);
  rules.forEach((rule: Json, i: number) => checkRule(out, rule, SPEC.child('rules').index(i), tolerated));
  tls.forEach((entry: Json, i: number) => checkTls(out, entry, SPEC.child('tls').index(i), tolerated));
  if (ingressClassName !== undefined) {
    out.invalidEach(SPEC.child('ingressClassName'), ingressClassName, isDns1123Subdomain(ingressClassName));
  }
}

function hostErrors(host: string): string[] {
  return host.includes('*') ? isWildcardDns1123Subdomain(host) : isDns1123Subdomain(host);
}

function checkTls(out: Findings, { hosts = [], secretName = '' }: Json, at: Path, tolerated: Tolerated): void {
  hosts.forEach((host: string, i: number) => out.invalidEach(at.child('hosts').index(i), host, hostErrors(host)));
  if (!tolerated.secretNames && secretName !== '') out.invalidEach(at.child('secretName'), secretName, isDns1123Subdomain(secretName));
}

function checkRule(out: Findings, rule: Json, at: Path, tolerated: Tolerated): void {
  const host: string = rule.host ?? '';
  if (host !== '') {
    if (parseIp(host) !== undefined) out.invalid(at.child('host'), host, 'must be a DNS name, not an IP address');
    out.invalidEach(at.child('host'), host, hostErrors(host));
  }
  if (!host.includes('*') || !tolerated.wildcardRules) checkHttp(out, rule.http, at, tolerated);
}

function checkHttp(out: Findings, http: Json, at: Path, tolerated: Tolerated): void {
  if (http === undefined) return;
  const pathsAt = at.child('http', 'paths');
  if ((http.paths ?? []).length === 0) out.required(pathsAt);
  (http.paths ?? []).forEach((entry: Json, i: number) => checkPath(out, entry, pathsAt.index(i), tolerated));
}

function checkPath(out: Findings, entry: Json, at: Path, tolerated: Tolerated): void {
  const { path: text = '', pathType } = entry;
  const pathAt = at.child('path');
  if (pathType === undefined) return out.required(at.child('pathType'), 'pathType must be specified');
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!text.startsWith('/')) out.invalid(pathAt, text, 'must be an absolute path');
    for (const part of ['//', '/./', '/../', '%2f', '%2F']) {
      if (text.includes(part)) out.invalid(pathAt, text, `must not contain '${part}'`);
    }
    for (const end of ['/..', '/.']) if (text.endsWith(end)) out.invalid(pathAt, text, `cannot end with '${end}'`);
  } else if (pathType === 'ImplementationSpecific') {
    if (text !== '' && !text.startsWith('/')) out.invalid(pathAt, text, 'must be an absolute path');
  } else out.notSupported(at.child('pathType'), pathType, PATH_TYPES);
  checkBackend(out, entry.backend ?? {}, at.child('backend'), tolerated);
}

function checkBackend(out: Findings, { resource, service }: Json, at: Path, tolerated: Tolerated): void {
  if (resource !== undefined && service !== undefined) return out.invalid(at, '', 'cannot set both resource and service backends');
  if (resource !== undefined) return checkTypedReference(out, resource, at.child('resource'));
  if (service === undefined) return out.invalid(at, '', 'resource or service backend is required');
  const nameRule = tolerated.serviceNames ? isDns1123Label : isDns1035Label;
  if (!service.name) out.required(at.child('service', 'name'));
  else out.invalidEach(at.child('service', 'name'), service.name, nameRule(service.name));
  const { name = '', number = 0 } = service.port ?? {};
  if (name !== '' && number !== 0) out.invalid(at, '', 'cannot set both port name & port number');
  else if (name !== '') out.invalidEach(at.child('service', 'port', 'name'), name, isPortName(name));
  else if (number !== 0) out.invalidEach(at.child('service', 'port', 'number'), number, isPortNumber(number));
  else out.required(at, 'port name or number is required');
}

function checkTypedReference(out: Findings, { apiGroup, kind, name }: Json, at: Path): void {
  if (apiGroup !== undefined) out.invalidEach(at.child('apiGroup'), apiGroup, isDns1123Subdomain(apiGroup));
  for (const [field, value] of [
    ['kind', kind],
    ['name', name],
  ]) {
    if (!value) out.required(at.child(field));
    else out.invalidEach(at.child(field), value, isPathSegmentName(value));
  }
}

function checkLoadBalancer(out: Findings, ingress: KubeObject, old: KubeObject | undefined): void {
  const known = (old?.status?.loadBalancer?.ingress ?? []).map((i: Json) => i.ip ?? '');
  (ingress.status?.loadBalancer?.ingress ?? []).forEach(({ ip, hostname }: Json, i: number) => {
    const at = path('status', 'loadBalancer', 'ingress').index(i);
    if (ip) checkLegacyIp(out, ip, at.child('ip'), known);
    if (!hostname) return;
    out.invalidEach(at.child('hostname'), hostname, isDns1123Subdomain(hostname));
    if (parseIp(hostname) !== undefined) out.invalid(at.child('hostname'), hostname, 'must be a DNS name, not an IP address');
  });
}

const MAX_CONTROLLER = 250;
const SCOPES = ['Cluster', 'Namespace'];

export function validateIngressClass(out: Findings, ingressClass: KubeObject, old: KubeObject | undefined): void {
  const controller: string = ingressClass.spec?.controller ?? '';
  const at = SPEC.child('controller');
  if (old !== undefined) checkImmutable(out, controller, old.spec?.controller ?? '', at);
  if (controller.length > MAX_CONTROLLER) out.tooLong(at, MAX_CONTROLLER);
  checkDomainPrefixedPath(out, controller, at);
  const { parameters } = ingressClass.spec ?? {};
  if (parameters !== undefined) checkParameters(out, parameters, SPEC.child('parameters'));
}

function checkParameters(out: Findings, parameters: Json, at: Path): void {
  checkTypedReference(out, parameters, at);
  const { scope, namespace } = parameters;
  if (scope === undefined) return out.required(at.child('scope'));
  if (!SCOPES.includes(scope)) return out.notSupported(at.child('scope'), scope, SCOPES);
  const namespaceAt = at.child('namespace');
  if (scope === 'Namespace') {
    if (namespace === undefined) out.required(namespaceAt, "`parameters.scope` is set to 'Namespace'");
    else out.invalidEach(namespaceAt, namespace, isDns1123Label(namespace));
  } else if (namespace !== undefined) out.forbidden(namespaceAt, "`parameters.scope` is set to 'Cluster'");
}
