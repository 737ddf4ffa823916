import { marshal, printAny } from '../../../kube/go-text.ts';
import { Steps, type Sliced } from '../../../kube/json-slices.ts';
import { isJsonObject } from '../../../kube/json-value.ts';
import type { Json } from '../../../kube/object.ts';
import { itemElement, ItemError } from './list-items.ts';
import { fieldElement, printElement } from './path-element.ts';
import { sideOf, type ListType, type MapType, type ScalarKind, type ValueType } from './value-type.ts';

const UNDECLARED = 'field not declared in schema';

/** What makes a value no value of its type, each as `<path>: <message>` in the words of structured-merge-diff. */
export function typeFindings(type: ValueType, value: Json, options: { allowDuplicates?: boolean } = {}): string[] {
  const check = new Check(options.allowDuplicates ?? false);
  check.value(type, value, '');
  return check.findings;
}

/** The same with pauses, for a value of thousands of fields. */
export function* typeFindingsInSlices(type: ValueType, value: Json): Sliced<string[]> {
  const check = new Check(false);
  yield* check.large(type, value, '');
  return check.findings;
}

/** One finding stands alone; several are listed. */
export function joinFindings(findings: readonly string[]): string {
  return findings.length === 1 ? findings[0] : ['errors:', ...findings.map((finding) => `  ${finding}`)].join('\n');
}

class Check {
  readonly findings: string[] = [];
  readonly #allowDuplicates: boolean;

  constructor(allowDuplicates: boolean) {
    this.#allowDuplicates = allowDuplicates;
  }

  value(type: ValueType, value: Json, path: string): void {
    switch (sideOf(type, value)) {
      case 'map':
        if (isJsonObject(value)) this.#map(type.map!, value, path);
        else if (value !== null) this.#add(path, `expected map, got ${printGot(value)}`);
        return;
      case 'list':
        if (Array.isArray(value)) this.#list(type.list!, value, path);
        else if (value !== null) this.#add(path, `expected list, got ${printGot(value)}`);
        return;
      case 'scalar':
      default:
        if (value !== null) this.#scalar(type.scalar!, value, path);
    }
  }

  *large(type: ValueType, value: Json, path: string): Sliced<void> {
    const side = sideOf(type, value);
    if (side === 'map' && isJsonObject(value)) yield* this.#largeMap(type.map!, value, path);
    else if (side === 'list' && Array.isArray(value)) yield* this.#largeList(type.list!, value, path);
    else this.value(type, value, path);
  }

  *#largeMap(map: MapType, value: Record<string, Json>, path: string): Sliced<void> {
    const steps = new Steps();
    for (const name in value) {
      if (steps.due(value[name])) yield;
      const type = map.field(name)?.type ?? map.additional;
      const below = path + printElement(fieldElement(name));
      if (type === undefined) {
        this.#add(below, UNDECLARED);
        return;
      }
      if (steps.heavy) yield* this.large(type, value[name], below);
      else this.value(type, value[name], below);
    }
  }

  *#largeList(list: ListType, value: Json[], path: string): Sliced<void> {
    const seen = new Set<string>();
    const steps = new Steps();
    for (let index = 0; index < value.length; index++) {
      if (steps.due(value[index])) yield;
      const below = this.#itemPath(list, value, index, path, seen);
      if (below === undefined) return;
      if (steps.heavy) yield* this.large(list.element, value[index], below);
      else this.value(list.element, value[index], below);
    }
  }

  #add(path: string, message: string): void {
    this.findings.push(path === '' ? message : `${path}: ${message}`);
  }

  #scalar(kind: ScalarKind, value: Json, path: string): void {
    const actual = typeof value;
    if (kind === 'numeric' && actual !== 'number') this.#add(path, `expected numeric (int or float), got ${goType(value)}`);
    else if (kind === 'string' && actual !== 'string')
      this.#add(path, `expected string, got &value.valueUnstructured{Value:${marshal(value)}}`);
    else if (kind === 'boolean' && actual !== 'boolean') this.#add(path, `expected boolean, got ${printGot(value)}`);
    else if (kind === 'untyped' && actual === 'object') this.#add(path, `expected any scalar, got ${printGot(value)}`);
  }

  #map(map: MapType, value: Record<string, Json>, path: string): void {
    for (const name in value) {
      const type = map.field(name)?.type ?? map.additional;
      const below = path + printElement(fieldElement(name));
      if (type === undefined) {
        this.#add(below, UNDECLARED);
        return;
      }
      this.value(type, value[name], below);
    }
  }

  #list(list: ListType, value: Json[], path: string): void {
    const seen = new Set<string>();
    for (let index = 0; index < value.length; index++) {
      const below = this.#itemPath(list, value, index, path, seen);
      if (below === undefined) return;
      this.value(list.element, value[index], below);
    }
  }

  /** Where an item is; undefined when it cannot be told from others, which ends the list. */
  #itemPath(list: ListType, items: Json[], index: number, path: string, seen: Set<string>): string | undefined {
    if (list.atomic) return path + printElement(`i:${index}`);
    let element: string;
    try {
      element = itemElement(list, items[index]);
    } catch (error) {
      if (!(error instanceof ItemError)) throw error;
      this.#add(path, `element ${index}: ${error.message}`);
      return undefined;
    }
    if (seen.has(element) && !this.#allowDuplicates) this.#add(path, `duplicate entries for key ${printElement(element)}`);
    seen.add(element);
    return path + printElement(element);
  }
}

function printGot(value: Json): string {
  return `&{${printAny(value)}}`;
}

function goType(value: Json): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}
