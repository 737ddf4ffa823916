import { getField } from '../../../../kube/json-value.ts';
import { isQualifiedName } from '../../../../kube/names.ts';
import type { Json, KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { path, type Path } from '../path.ts';
import { compareQuantities, milliValue, wholeValue } from '../quantities.ts';
import { checkContainerResourceName, checkResourceName, isOvercommitAllowed } from '../resource-names.ts';

const LIMITS = path('spec', 'limits');
const TYPES = new Set(['Pod', 'Container', 'PersistentVolumeClaim']);
type Amounts = Record<string, string>;

export function validateLimitRange(out: Findings, range: KubeObject): void {
  const types = new Set<string>();
  (range.spec?.limits ?? []).forEach((limit: Json, i: number) => {
    const type: string = limit.type ?? '';
    checkType(out, type, LIMITS.index(i).child('type'));
    if (types.has(type)) out.duplicate(LIMITS.index(i).child('type'), type);
    types.add(type);
    checkLimit(out, limit, type, LIMITS.index(i));
  });
}

function checkType(out: Findings, type: string, at: Path): void {
  const messages = isQualifiedName(type);
  out.invalidEach(at, type, messages);
  if (messages.length === 0 && !type.includes('/') && !TYPES.has(type)) {
    out.invalid(at, type, 'must be a standard limit type or fully qualified');
  }
}

function checkLimit(out: Findings, limit: Json, type: string, at: Path): void {
  const checkName = type === 'Pod' || type === 'Container' ? checkContainerResourceName : checkResourceName;
  const names = new Set<string>();
  const collect = (field: string): Amounts => {
    const amounts: Amounts = limit[field] ?? {};
    for (const name in amounts) {
      checkName(out, name, at.child(field).key(name));
      names.add(name);
    }
    return amounts;
  };
  const max = collect('max');
  const min = collect('min');
  let [defaults, requests]: Amounts[] = [{}, {}];
  if (type === 'Pod') {
    for (const field of ['default', 'defaultRequest']) {
      if (Object.keys(limit[field] ?? {}).length > 0) out.forbidden(at.child(field), "may not be specified when `type` is 'Pod'");
    }
  } else [defaults, requests] = [collect('default'), collect('defaultRequest')];
  if (type === 'PersistentVolumeClaim' && min.storage === undefined && max.storage === undefined) {
    out.required(at.child('limits'), 'either minimum or maximum storage value is required, but neither was provided');
  }
  const ratios = collect('maxLimitRequestRatio');
  for (const name of names) {
    const [low, high, limitDefault, requestDefault, ratio]: (string | undefined)[] = [min, max, defaults, requests, ratios].map((amounts) =>
      getField(amounts, name),
    );
    checkOrder(out, name, { min: low, max: high, limit: limitDefault, request: requestDefault }, at);
    if (ratio !== undefined) checkRatio(out, name, ratio, low, high, at);
    if (isOvercommitAllowed(name) || limitDefault === undefined || requestDefault === undefined) continue;
    if (compareQuantities(limitDefault, requestDefault) !== 0) {
      const detail = `default value ${limitDefault} must equal to defaultRequest value ${requestDefault} in ${name}`;
      out.invalid(at.child('defaultRequest').key(name), requestDefault, detail);
    }
  }
}

interface Values {
  min?: string;
  max?: string;
  limit?: string;
  request?: string;
}

function checkOrder(out: Findings, name: string, { min, max, limit, request }: Values, at: Path): void {
  const exceeds = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a, b) > 0;
  const [requestAt, defaultAt] = [at.child('defaultRequest').key(name), at.child('default').key(name)];
  if (exceeds(min, max)) out.invalid(at.child('min').key(name), min, `min value ${min} is greater than max value ${max}`);
  if (exceeds(min, request)) out.invalid(requestAt, request, `min value ${min} is greater than default request value ${request}`);
  if (exceeds(request, max)) out.invalid(requestAt, request, `default request value ${request} is greater than max value ${max}`);
  if (exceeds(request, limit)) {
    out.invalid(requestAt, request, `default request value ${request} is greater than default limit value ${limit}`);
  }
  if (exceeds(min, limit)) out.invalid(defaultAt, min, `min value ${min} is greater than default value ${limit}`);
  if (exceeds(limit, max)) out.invalid(defaultAt, max, `default value ${limit} is greater than max value ${max}`);
}

const MAX_MILLI = 9_223_372_036_854_775n;

function checkRatio(out: Findings, name: string, ratio: string, min: string | undefined, max: string | undefined, at: Path): void {
  const ratioAt = at.child('maxLimitRequestRatio').key(name);
  if (compareQuantities(ratio, '1') < 0) out.invalid(ratioAt, ratio, `ratio ${ratio} is less than 1`);
  if (min === undefined || max === undefined) return;
  const fits = [ratio, min, max].every((quantity) => wholeValue(quantity) < MAX_MILLI);
  const value = fits ? Number(milliValue(ratio)) / 1000 : Number(wholeValue(ratio));
  const bound = fits ? Number(milliValue(max)) / Number(milliValue(min)) : Number(wholeValue(max)) / Number(wholeValue(min));
  if (value > bound) out.invalid(ratioAt, ratio, `ratio ${ratio} is greater than max/min = ${bound.toFixed(6)}`);
}
