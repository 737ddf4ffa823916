import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Pace, runInSlices, runToEnd } from '../schema/slices.ts';
import { SchemaNode } from '../schema/schema-node.ts';
import { compileCel, OBJECT_BUDGET } from './cel.ts';
import { estimateCost } from './cost-estimate.ts';
import { fromJson } from './json-values.ts';
import { checkRules, RuleNode } from './rule-validation.ts';
import { DYN } from './types.ts';
import { CelList, CelOptional, CelTypeValue, CelUint, type CelValue } from './values.ts';

// Recorded from cel-go 0.26 in the environment of Kubernetes 1.35: outcome, run-time cost and estimated cost of each expression.
const read = (file: string): never => JSON.parse(readFileSync(new URL(`testdata/generated/${file}`, import.meta.url), 'utf8')) as never;

interface RecordedExpression {
  expression: string;
  compile?: string;
  program?: string;
  error?: string;
  value?: string;
  cost?: number;
  max?: string;
}

const VARIABLES = { a: 1, s: 'abc', l: [1, 2, 3], m: { x: { y: [1, 2] }, i: 1 }, b: true };
const TYPES = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, DYN]));
const bindings = (): Map<string, CelValue> => new Map(Object.entries(VARIABLES).map(([name, value]) => [name, fromJson(value)]));

/** How Go's %v shows a value; inner lists are shown by CEL itself. */
function shown(value: CelValue, inner = false): string {
  if (value === null) return 'NULL_VALUE';
  if (value instanceof CelOptional) return value.value === undefined ? '<nil>' : shown(value.value);
  if (value instanceof CelList) return `[${Array.from(value, (item) => shown(item, true)).join(inner ? ', ' : ' ')}]`;
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof Uint8Array) return `[${Array.from(value).join(' ')}]`;
  return value === Infinity ? '+Inf' : `${value as string | number | bigint | boolean}`;
}

function outcome({ expression, value }: RecordedExpression): Omit<RecordedExpression, 'expression'> {
  const compiled = compileCel(expression, { variables: TYPES });
  if (compiled.program === undefined) return compiled.instantiation ? { program: compiled.errors } : { compile: compiled.errors };
  const result = compiled.program.evaluate(bindings());
  const got: Omit<RecordedExpression, 'expression'> = { cost: result.cost, max: String(estimateCost(compiled.program.ast).max) };
  if (result.error !== undefined) got.error = result.error;
  else if (value !== undefined) got.value = shown(result.value!);
  return got;
}

describe('compileCel, with the outcome, messages and costs of cel-go', () => {
  const cases: (RecordedExpression & { type?: string })[] = read('expressions.json');
  it.each(cases.map((recorded) => [recorded.expression.slice(0, 120), recorded] as const))('%s', (_, recorded) => {
    const want: Partial<typeof recorded> = { ...recorded };
    delete want.expression;
    delete want.type;
    expect(outcome(recorded)).toEqual(want);
  });

  it('evaluates in slices to the same outcome and cost', async () => {
    const folds = cases.filter(({ expression, cost }) => cost !== undefined && /\.(all|exists|map|filter)/.test(expression));
    for (const { expression } of folds) {
      const { program } = compileCel(expression, { variables: TYPES });
      const whole = program!.evaluate(bindings());
      const sliced = await runInSlices(program!.evaluateSliced(bindings()));
      expect([expression, sliced.cost, sliced.error]).toEqual([expression, whole.cost, whole.error]);
    }
  });
});

interface RecordedRules {
  schema: object;
  object: object;
  old?: object;
  want: { findings: string[]; cost: number };
}

describe('checkRules, with the findings and costs of apiextensions', () => {
  const cases: RecordedRules[] = read('rules.json');
  it.each(cases.map((recorded) => [JSON.stringify([recorded.schema, recorded.object]).slice(0, 160), recorded] as const))(
    '%s',
    (_, recorded) => {
      const root = new RuleNode(new SchemaNode(recorded.schema), true);
      const { found, budget } = runToEnd(checkRules(root, recorded.object, { old: recorded.old, pace: new Pace() }));
      expect(found.map((finding) => `${finding.type}|${finding.field}: ${finding.message}`).sort()).toEqual(recorded.want.findings);
      expect(OBJECT_BUDGET - budget).toBe(recorded.want.cost);
    },
  );
});
