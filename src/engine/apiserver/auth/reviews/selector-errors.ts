import { parseFieldSelector } from '../../../../kube/field-selector.ts';
import { parseLabelSelector } from '../../../../kube/label-selector.ts';
import type { Json } from '../../../../kube/object.ts';

const BASE = 'spec.resourceAttributes';

interface ReviewSelector {
  rawSelector?: string;
  requirements?: Json[];
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
