import type { Json } from '../../../kube/object.ts';
import type { Schema } from '../../../kube/schema.ts';
import { formatCheck } from './formats.ts';
import { goJson } from './go-print.ts';
import type { StepCounter } from './regex-program.ts';
import { compileRegExp, type LinearRegExp } from './regular-expression.ts';

const NONE: readonly never[] = [];

/**
 * One node of a CRD's schema, prepared when an object first reaches it: a large schema costs only what its objects use.
 * Nodes are shared by every object of the version.
 */
export class SchemaNode {
  readonly schema: Schema;
  /** Empty when any type goes. */
  readonly types: readonly string[];
  readonly nullable: boolean;
  readonly preservesUnknown: boolean;
  readonly embedded: boolean;
  readonly defaultValue: Json;
  readonly listType: string;
  /** The format as written when Kubernetes knows it, else ''. */
  readonly format: string;
  readonly hasJunctors: boolean;
  private readonly children = new Map<string, SchemaNode | undefined>();
  private itemsNode?: SchemaNode | null;
  private additionalNode?: SchemaNode | null;
  private defaultedList?: readonly string[];
  private listed?: Set<unknown>;
  private junctorNodes?: { allOf: readonly SchemaNode[]; anyOf: readonly SchemaNode[]; oneOf: readonly SchemaNode[]; not?: SchemaNode };

  constructor(schema: Schema) {
    this.schema = schema;
    this.types = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : NONE;
    this.nullable = schema.nullable === true;
    this.preservesUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
    this.embedded = schema['x-kubernetes-embedded-resource'] === true;
    this.defaultValue = schema.default ?? undefined;
    this.listType = schema['x-kubernetes-list-type'] ?? '';
    this.format = formatCheck(schema.format) === undefined ? '' : (schema.format ?? '');
    this.hasJunctors = Boolean(schema.allOf?.length || schema.anyOf?.length || schema.oneOf?.length || schema.not);
  }

  property(name: string): SchemaNode | undefined {
    const known = this.children.get(name);
    if (known !== undefined) return known;
    const properties = this.schema.properties;
    if (properties === undefined || !Object.hasOwn(properties, name)) return undefined;
    const node = new SchemaNode(properties[name]);
    this.children.set(name, node);
    return node;
  }

  get items(): SchemaNode | undefined {
    if (this.itemsNode === undefined) this.itemsNode = this.schema.items ? new SchemaNode(this.schema.items) : null;
    return this.itemsNode ?? undefined;
  }

  /** The schema of values of unnamed keys, when there is one. */
  get additional(): SchemaNode | undefined {
    if (this.additionalNode === undefined) {
      const additional = this.schema.additionalProperties;
      this.additionalNode = typeof additional === 'object' && additional !== null ? new SchemaNode(additional) : null;
    }
    return this.additionalNode ?? undefined;
  }

  get saysAdditional(): boolean {
    return this.schema.additionalProperties !== undefined && this.schema.additionalProperties !== null;
  }

  /** Properties that have a default. */
  get defaulted(): readonly string[] {
    if (this.defaultedList === undefined) {
      const properties = this.schema.properties ?? {};
      const names = Object.keys(properties).filter((name) => (properties[name].default ?? null) !== null);
      this.defaultedList = names.length === 0 ? NONE : names;
    }
    return this.defaultedList;
  }

  /** Not kept here: a schema full of large patterns would hold them all. */
  pattern(counter: StepCounter): LinearRegExp | undefined {
    return this.schema.pattern ? compileRegExp(this.schema.pattern, counter) : undefined;
  }

  /** Whether the enum, if there is one, lists the value. Null is never listed; numbers are compared as reflection in Go has it. */
  isListed(value: Json): boolean {
    const allowed = this.schema.enum;
    if (allowed === undefined || allowed.length === 0) return true;
    this.listed ??= new Set(allowed.map(identity));
    if (value === null) return false;
    if (typeof value === 'number') return this.listed.has(value) || this.listed.has(Math.trunc(value));
    return this.listed.has(identity(value));
  }

  get junctors(): { allOf: readonly SchemaNode[]; anyOf: readonly SchemaNode[]; oneOf: readonly SchemaNode[]; not?: SchemaNode } {
    this.junctorNodes ??= {
      allOf: toNodes(this.schema.allOf),
      anyOf: toNodes(this.schema.anyOf),
      oneOf: toNodes(this.schema.oneOf),
      not: this.schema.not ? new SchemaNode(this.schema.not) : undefined,
    };
    return this.junctorNodes;
  }

  /** The node that describes the value under a key: its property's, else that of additional properties. */
  forKey(name: string): SchemaNode | undefined {
    return this.property(name) ?? this.additional;
  }
}

/** What makes a value equal to another: scalars themselves, structures by their content. */
function identity(value: Json): unknown {
  return typeof value === 'object' && value !== null ? `\u0000${goJson(value)}` : value;
}

function toNodes(schemas: Schema[] | undefined): readonly SchemaNode[] {
  return schemas === undefined ? NONE : schemas.map((schema) => new SchemaNode(schema));
}
