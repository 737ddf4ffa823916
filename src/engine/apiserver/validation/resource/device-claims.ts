import { isCIdentifier, isDns1123Label, isDns1123Subdomain, isLabelValue } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import { checkTemplateMetadata } from '../core/claim-spec.ts';
import { semanticEqual } from '../equality.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel, FIELD_IMMUTABLE } from '../formats.ts';
import { internalForm } from '../internal-form.ts';
import { checkLabelName } from '../labels.ts';
import { path, type Path } from '../path.ts';
import { checkCsiDriverName } from '../pod/volume-sources.ts';
import { isExtendedResource } from '../resource-names.ts';

/** Claims for devices (dynamic resource allocation): what users write. What drivers write is stored as they write it. */
const SPEC = path('spec');
const MAX_ITEMS = 32;
const MAX_ALTERNATIVES = 8;
const MAX_EXPRESSION = 10 * 1024;
const MAX_PARAMETERS = 10 * 1024;
const MAX_IDENTIFIER = 32;
const NAME_OF_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

export function validateResourceClaim(out: Findings, claim: KubeObject, old: KubeObject | undefined, subresource: string): void {
  if (subresource === 'status') return;
  if (old === undefined) return checkClaimSpec(out, claim.spec ?? {}, SPEC);
  checkSpecImmutable(out, 'resource.ResourceClaimSpec', claim.spec ?? {}, old.spec ?? {});
}

export function validateResourceClaimTemplate(out: Findings, template: KubeObject, old: KubeObject | undefined): void {
  const spec = template.spec ?? {};
  checkTemplateMetadata(out, spec.metadata ?? {}, SPEC.child('metadata'));
  checkClaimSpec(out, spec.spec ?? {}, SPEC.child('spec'));
  if (old !== undefined) checkSpecImmutable(out, 'resource.ResourceClaimTemplateSpec', spec, old.spec ?? {});
}

function checkSpecImmutable(out: Findings, type: string, spec: Json, old: Json): void {
  if (!semanticEqual(type, spec, old)) out.invalid(SPEC, internalForm(type, spec), FIELD_IMMUTABLE);
}

function checkItems(out: Findings, items: Json[], max: number, at: Path, check: (item: Json, at: Path) => void): boolean {
  if (items.length > max) {
    out.tooMany(at, items.length, max);
    return false;
  }
  items.forEach((item, i) => check(item, at.index(i)));
  return true;
}

function checkSet(
  out: Findings,
  items: Json[],
  max: number,
  at: Path,
  keyOf: (item: Json) => string,
  check: (item: Json, at: Path) => void,
): void {
  if (!checkItems(out, items, max, at, check)) return;
  const seen = new Set<string>();
  items.forEach((item, i) => {
    const key = keyOf(item);
    if (seen.has(key)) out.duplicate(at.index(i), key);
    seen.add(key);
  });
}

function checkClaimSpec(out: Findings, spec: Json, at: Path): void {
  const { requests = [], constraints = [], config = [] } = spec.devices ?? {};
  const devicesAt = at.child('devices');
  const names = new Map<string, Set<string>>(
    requests.map((r: Json) => [r.name ?? '', new Set((r.firstAvailable ?? []).map((s: Json) => s.name ?? ''))]),
  );
  checkSet(
    out,
    requests,
    MAX_ITEMS,
    devicesAt.child('requests'),
    (r) => r.name ?? '',
    (r, itemAt) => checkRequest(out, r, itemAt),
  );
  checkItems(out, constraints, MAX_ITEMS, devicesAt.child('constraints'), (constraint, itemAt) => {
    checkRequestNames(out, constraint.requests ?? [], names, itemAt.child('requests'));
    if (constraint.matchAttribute !== undefined) checkQualifiedName(out, constraint.matchAttribute, itemAt.child('matchAttribute'));
    else if (constraint.distinctAttribute !== undefined) {
      checkQualifiedName(out, constraint.distinctAttribute, itemAt.child('distinctAttribute'));
    } else out.required(itemAt.child('matchAttribute'));
  });
  checkItems(out, config, MAX_ITEMS, devicesAt.child('config'), (entry, itemAt) => {
    checkRequestNames(out, entry.requests ?? [], names, itemAt.child('requests'));
    checkConfiguration(out, entry, itemAt);
  });
}

function checkRequest(out: Findings, request: Json, at: Path): void {
  const { name = '', exactly, firstAvailable = [] } = request;
  checkDnsLabel(out, name, at.child('name'));
  const detail = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly === undefined && firstAvailable.length === 0) out.required(at, detail);
  else if (exactly !== undefined && firstAvailable.length > 0) out.invalid(at, null, `${detail}, but multiple fields are set`);
  else if (exactly !== undefined) checkDeviceRequest(out, exactly, at.child('exactly'));
  else {
    const itemsAt = at.child('firstAvailable');
    checkSet(
      out,
      firstAvailable,
      MAX_ALTERNATIVES,
      itemsAt,
      (s) => s.name ?? '',
      (alternative, itemAt) => {
        checkDnsLabel(out, alternative.name ?? '', itemAt.child('name'));
        checkDeviceRequest(out, alternative, itemAt);
      },
    );
  }
}

function checkDeviceRequest(out: Findings, request: Json, at: Path): void {
  const { deviceClassName = '', selectors = [], allocationMode = '', count = 0, tolerations = [] } = request;
  if (deviceClassName === '') out.required(at.child('deviceClassName'));
  else out.invalidEach(at.child('deviceClassName'), deviceClassName, isDns1123Subdomain(deviceClassName));
  checkSelectors(out, selectors, at.child('selectors'));
  if (allocationMode === 'All') {
    if (count !== 0) out.invalid(at.child('count'), count, "must not be specified when allocationMode is 'All'");
  } else if (allocationMode === 'ExactCount') {
    if (count <= 0) out.invalid(at.child('count'), count, 'must be greater than zero');
  } else out.notSupported(at.child('allocationMode'), allocationMode, ['All', 'ExactCount']);
  tolerations.forEach((toleration: Json, i: number) => checkToleration(out, toleration, at.child('tolerations').index(i)));
}

function checkToleration(out: Findings, { key = '', operator = '', value = '', effect = '' }: Json, at: Path): void {
  if (key !== '') checkLabelName(out, key, at.child('key'));
  if (operator === 'Exists') {
    if (value !== '') out.invalid(at.child('value'), value, 'must be empty for operator `Exists`');
  } else if (operator === 'Equal') out.invalidEach(at.child('value'), value, isLabelValue(value));
  else if (operator === '') out.required(at.child('operator'));
  else out.notSupported(at.child('operator'), operator, ['Equal', 'Exists']);
  const effects = ['NoExecute', 'NoSchedule', 'None'];
  if (effect !== '' && !effects.includes(effect)) out.notSupported(at.child('effect'), effect, effects);
}

function checkSelectors(out: Findings, selectors: Json[], at: Path): void {
  checkItems(out, selectors, MAX_ITEMS, at, (selector, itemAt) => {
    if (selector.cel === undefined) out.required(itemAt.child('cel'));
    else if ((selector.cel.expression ?? '').length > MAX_EXPRESSION) out.tooLong(itemAt.child('cel', 'expression'), MAX_EXPRESSION);
  });
}

function checkRequestNames(out: Findings, names: string[], known: Map<string, Set<string>>, at: Path): void {
  checkSet(out, names, MAX_ITEMS, at, String, (name: string, itemAt) => {
    const segments = name.split('/');
    if (segments.length > 2) return out.invalid(itemAt, name, NAME_OF_REQUEST);
    for (const segment of segments) out.invalidEach(itemAt, segment, isDns1123Label(segment));
    const alternatives = known.get(segments[0]);
    const found = alternatives !== undefined && (segments.length === 1 || alternatives.has(segments[1]));
    if (!found) out.invalid(itemAt, name, NAME_OF_REQUEST);
  });
}

function checkIdentifier(out: Findings, id: string, at: Path): void {
  if (id.length > MAX_IDENTIFIER) out.tooLong(at, MAX_IDENTIFIER);
  out.invalidEach(at, id, isCIdentifier(id));
}

function checkQualifiedName(out: Findings, name: string, at: Path): void {
  const parts = name.split('/');
  if (parts.length === 1) checkIdentifier(out, name, at);
  else if (parts.length === 2) {
    if (parts[0] === '') out.invalid(at, '', 'the domain must not be empty');
    else checkCsiDriverName(out, parts[0], at);
    if (parts[1] === '') out.invalid(at, '', 'the name must not be empty');
    else checkIdentifier(out, parts[1], at);
  }
  if (parts.length === 1) out.invalid(at, name, 'a fully qualified name must be a domain and a name separated by a slash');
}

function checkConfiguration(out: Findings, { opaque }: Json, at: Path): void {
  if (opaque === undefined) return out.required(at.child('opaque'));
  checkCsiDriverName(out, opaque.driver, at.child('opaque', 'driver'));
  const { parameters } = opaque;
  const parametersAt = at.child('opaque', 'parameters');
  if (parameters === undefined || parameters === null) out.required(parametersAt);
  else if (JSON.stringify(parameters).length > MAX_PARAMETERS) out.tooLong(parametersAt, MAX_PARAMETERS);
  else if (typeof parameters !== 'object' || Array.isArray(parameters)) {
    out.invalid(parametersAt, '<value omitted>', 'must be a valid JSON object');
  }
}

export function validateDeviceClass(out: Findings, deviceClass: KubeObject): void {
  const { selectors = [], config = [], extendedResourceName: name } = deviceClass.spec ?? {};
  checkSelectors(out, selectors, SPEC.child('selectors'));
  checkItems(out, config, MAX_ITEMS, SPEC.child('config'), (entry, at) => checkConfiguration(out, entry, at));
  if (name !== undefined && !isExtendedResource(name)) {
    out.invalid(SPEC.child('extendedResourceName'), name, 'must be a valid extended resource name');
  }
}
