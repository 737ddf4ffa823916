import { forbidden, invalid, required, type FieldError } from '../../../../kube/field-error.ts';
import { parseFieldSelector } from '../../../../kube/field-selector.ts';
import { parseLabelSelector, validateLabelSelector } from '../../../../kube/label-selector.ts';
import type { Json } from '../../../../kube/object.ts';

const BASE = 'spec.resourceAttributes';

interface ReviewSelector {
  rawSelector?: string;
  requirements?: Json[];
}

/** What is wrong with the selectors of a review. Operators that a newer client knows are let pass. */
export function selectorFindings(attributes: Json): FieldError[] {
  if (!attributes) return [];
  return [
    ...selectorShape(attributes.fieldSelector, `${BASE}.fieldSelector`, fieldRequirementFindings),
    ...selectorShape(attributes.labelSelector, `${BASE}.labelSelector`, labelRequirementFindings),
  ];
}

function selectorShape(
  selector: ReviewSelector | undefined,
  field: string,
  check: (requirement: Json, field: string) => FieldError[],
): FieldError[] {
  if (!selector) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const findings: FieldError[] = [];
  if (rawSelector !== '' && requirements.length > 0) {
    findings.push(invalid(`${field}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'));
  }
  if (rawSelector === '' && requirements.length === 0) {
    findings.push(required(`${field}.requirements`, `when ${field} is specified, requirements or rawSelector is required`));
  }
  requirements.forEach((requirement, i) => findings.push(...check(requirement, `${field}.requirements[${i}]`)));
  return findings;
}

function fieldRequirementFindings({ key = '', operator, values = [] }: Json, field: string): FieldError[] {
  const findings: FieldError[] = [];
  if (key === '') findings.push(required(`${field}.key`, 'must be specified'));
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    findings.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    findings.push(forbidden(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
  return findings;
}

function labelRequirementFindings({ key = '', operator = '', values }: Json, field: string): FieldError[] {
  return validateLabelSelector({ matchExpressions: [{ key, operator, values }] }, '')
    .map((finding) => ({ ...finding, field: finding.field.replace('.matchExpressions[0]', field) }))
    .filter((finding) => finding.field !== `${field}.operator`);
}

/** Selectors that could not be read do not narrow what is asked; the answer says so. */
export function selectorParseErrors(attributes: Json): string[] {
  if (!attributes) return [];
  return [
    ...parseError('fieldSelector', attributes.fieldSelector, parseFieldSelector, isFieldRequirement),
    ...parseError('labelSelector', attributes.labelSelector, parseLabelSelector, isLabelRequirement),
  ];
}

function parseError(
  name: string,
  selector: ReviewSelector | undefined,
  parse: (text: string) => unknown,
  isUsable: (requirement: Json) => boolean,
): string[] {
  if (!selector) return [];
  const { rawSelector = '', requirements = [] } = selector;
  if (rawSelector !== '' && !parses(() => parse(rawSelector))) return [`${BASE}.${name} ignored due to parse error`];
  const usable = requirements.filter(isUsable).length;
  if (usable === requirements.length) return [];
  return [`${BASE}.${name} ${usable > 0 ? 'partially ignored' : 'ignored'} due to parse error`];
}

function parses(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

function isFieldRequirement({ operator, values = [] }: Json): boolean {
  return (operator === 'In' || operator === 'NotIn') && values.length === 1;
}

function isLabelRequirement({ operator }: Json): boolean {
  return ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator as string);
}
