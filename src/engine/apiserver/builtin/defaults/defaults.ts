import type { Json } from '../../../../kube/object.ts';
import { readRecordedJson } from '../recorded.ts';
import { CONDITIONAL_DEFAULTS, UNRECORDED_DEFAULTS } from './conditional.ts';

/**
 * A default that depends on its siblings: `input` is the object as it came, `out` holds the fields before this one in their final
 * form, `root` is the definition of the whole object.
 */
export type ConditionalDefault = (input: Json, out: Json, root: string) => Json;

/** A constant, or a function for what depends on siblings. */
export type FieldDefault = string | number | boolean | object | ConditionalDefault;

let recorded: Record<string, Record<string, FieldDefault>> | undefined;

/** The defaults of the fields of one definition: recorded from a real server, completed by what no recording can tell. */
export function defaultsOf(definition: string): Record<string, FieldDefault> {
  recorded ??= readRecordedJson('defaults.json') as Record<string, Record<string, FieldDefault>>;
  return { ...recorded[definition], ...UNRECORDED_DEFAULTS[definition], ...CONDITIONAL_DEFAULTS[definition] };
}
