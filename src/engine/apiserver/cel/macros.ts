import type { CallExpr, ComprehensionExpr, Expr } from './ast.ts';

/** A macro was used wrongly; the offset is that of the argument at fault. */
export class MacroError extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** The accumulator of a fold. It cannot be written in an expression, so nothing can collide with it. */
export const ACCUMULATOR = '@result';
const VISIBLE_ACCUMULATOR = '__result__';
const UNUSED = '#unused';

interface Site {
  target: Expr;
  args: Expr[];
  offset: number;
}

type Expander = (site: Site) => Expr;

const literal = (value: boolean | bigint, { offset }: Site): Expr => ({ kind: 'literal', value, offset });
const ident = (name: string, { offset }: Site): Expr => ({ kind: 'ident', name, offset });
const accu = (site: Site): Expr => ident(ACCUMULATOR, site);
const list = (elements: Expr[], { offset }: Site): Expr => ({ kind: 'list', elements, optionals: new Set(), offset });
const call = (name: string, args: Expr[], { offset }: Site): CallExpr => ({ kind: 'call', name, args, offset });
const memberCall = (name: string, target: Expr, args: Expr[], { offset }: Site): CallExpr => ({ kind: 'call', name, target, args, offset });

function simpleName(arg: Expr, complaint = 'argument must be a simple name'): string {
  if (arg.kind !== 'ident') throw new MacroError(arg.offset, complaint);
  if (arg.name === ACCUMULATOR || arg.name === VISIBLE_ACCUMULATOR) {
    throw new MacroError(arg.offset, 'iteration variable overwrites accumulator variable');
  }
  return arg.name;
}

interface Fold {
  init: Expr;
  condition: Expr;
  step: Expr;
  result: Expr;
}

function fold(site: Site, vars: string[], parts: Fold): ComprehensionExpr {
  return {
    kind: 'comprehension',
    range: site.target,
    iterVar: vars[0],
    iterVar2: vars[1],
    accuVar: ACCUMULATOR,
    accuInit: parts.init,
    condition: parts.condition,
    step: parts.step,
    result: parts.result,
    offset: site.offset,
  };
}

function iterationVariables({ args }: Site, count: number, complaint?: string): string[] {
  const names = args.slice(0, count).map((arg) => simpleName(arg, complaint));
  if (count === 2 && names[0] === names[1]) throw new MacroError(args[1].offset, `duplicate variable name: ${names[0]}`);
  return names;
}

function all(site: Site, count: number): Expr {
  const vars = iterationVariables(site, count);
  return fold(site, vars, {
    init: literal(true, site),
    condition: call('@not_strictly_false', [accu(site)], site),
    step: call('_&&_', [accu(site), site.args[count]], site),
    result: accu(site),
  });
}

function exists(site: Site, count: number): Expr {
  const vars = iterationVariables(site, count);
  return fold(site, vars, {
    init: literal(false, site),
    condition: call('@not_strictly_false', [call('!_', [accu(site)], site)], site),
    step: call('_||_', [accu(site), site.args[count]], site),
    result: accu(site),
  });
}

function existsOne(site: Site, count: number): Expr {
  const vars = iterationVariables(site, count);
  const more = call('_+_', [accu(site), literal(1n, site)], site);
  return fold(site, vars, {
    init: literal(0n, site),
    condition: literal(true, site),
    step: call('_?_:_', [site.args[count], more, accu(site)], site),
    result: call('_==_', [accu(site), literal(1n, site)], site),
  });
}

/** A fold that collects: `step` is what one element adds, taken only where `filter` holds. */
function collect(site: Site, vars: string[], init: Expr, step: Expr, filter: Expr | undefined): Expr {
  return fold(site, vars, {
    init,
    condition: literal(true, site),
    step: filter === undefined ? step : call('_?_:_', [filter, step, accu(site)], site),
    result: accu(site),
  });
}

function transformList(site: Site, count: number, complaint?: string): Expr {
  const vars = iterationVariables(site, count, complaint);
  const filter = site.args.length === count + 2 ? site.args[count] : undefined;
  const value = site.args[site.args.length - 1];
  return collect(site, vars, list([], site), call('_+_', [accu(site), list([value], site)], site), filter);
}

function filterList(site: Site): Expr {
  const vars = iterationVariables(site, 1, 'argument is not an identifier');
  const step = call('_+_', [accu(site), list([site.args[0]], site)], site);
  return collect(site, vars, list([], site), step, site.args[1]);
}

function transformMap(site: Site, entryWise: boolean): Expr {
  const vars = iterationVariables(site, 2);
  const filter = site.args.length === 4 ? site.args[2] : undefined;
  const value = site.args[site.args.length - 1];
  const inserted = entryWise ? [accu(site), value] : [accu(site), ident(vars[0], site), value];
  const init: Expr = { kind: 'map', entries: [], offset: site.offset };
  return collect(site, vars, init, call('cel.@mapInsert', inserted, site), filter);
}

function has({ args, offset }: Site): Expr {
  const [arg] = args;
  if (arg.kind !== 'select' || arg.testOnly) throw new MacroError(arg.offset, 'invalid argument to has() macro');
  return { kind: 'select', operand: arg.operand, field: arg.field, testOnly: true, offset };
}

/** A local variable is a fold over nothing whose accumulator is the variable. */
function bind(site: Site, name: string, value: Expr, result: Expr): ComprehensionExpr {
  return {
    kind: 'comprehension',
    range: list([], site),
    iterVar: UNUSED,
    accuVar: name,
    accuInit: value,
    condition: literal(false, site),
    step: ident(name, site),
    result,
    offset: site.offset,
  };
}

function optionalMap(site: Site, macro: string, wraps: boolean): Expr {
  const [variable, body] = site.args;
  if (variable.kind !== 'ident') throw new MacroError(variable.offset, `${macro}() variable name must be a simple identifier`);
  const bound = bind(site, variable.name, memberCall('value', site.target, [], site), body);
  const present = wraps ? call('optional.of', [bound], site) : bound;
  return call('_?_:_', [memberCall('hasValue', site.target, [], site), present, call('optional.none', [], site)], site);
}

const SORT_INPUT = '@__sortBy_input__';

function sortBy(site: Site): Expr {
  if (site.target.kind === 'literal' || site.target.kind === 'map' || site.target.kind === 'struct') {
    const message = 'sortBy can only be applied to a list, identifier, comprehension, call or select expression';
    throw new MacroError(site.target.offset, message);
  }
  const keys = transformList({ ...site, target: ident(SORT_INPUT, site) }, 1, 'argument is not an identifier');
  return bind(site, SORT_INPUT, site.target, memberCall('@sortByAssociatedKeys', ident(SORT_INPUT, site), [keys], site));
}

/** By name, number of arguments and whether it is called on something. */
const MACROS: Record<string, Expander> = {
  'has:1:false': has,
  'all:2:true': (site) => all(site, 1),
  'exists:2:true': (site) => exists(site, 1),
  'exists_one:2:true': (site) => existsOne(site, 1),
  'map:2:true': (site) => transformList(site, 1, 'argument is not an identifier'),
  'map:3:true': (site) => transformList(site, 1, 'argument is not an identifier'),
  'filter:2:true': filterList,
  'optMap:2:true': (site) => optionalMap(site, 'optMap', true),
  'optFlatMap:2:true': (site) => optionalMap(site, 'optFlatMap', false),
  'all:3:true': (site) => all(site, 2),
  'exists:3:true': (site) => exists(site, 2),
  'existsOne:3:true': (site) => existsOne(site, 2),
  'exists_one:3:true': (site) => existsOne(site, 2),
  'transformList:3:true': (site) => transformList(site, 2),
  'transformList:4:true': (site) => transformList(site, 2),
  'transformMap:3:true': (site) => transformMap(site, false),
  'transformMap:4:true': (site) => transformMap(site, false),
  'transformMapEntry:3:true': (site) => transformMap(site, true),
  'transformMapEntry:4:true': (site) => transformMap(site, true),
  'sortBy:2:true': sortBy,
};

/** @returns what the call stands for, or undefined when it is an ordinary call. @throws MacroError */
export function expandMacro(name: string, target: Expr | undefined, args: Expr[], offset: number): Expr | undefined {
  const key = `${name}:${args.length}:${target !== undefined}`;
  if (!Object.hasOwn(MACROS, key)) return undefined;
  return MACROS[key]({ target: target as Expr, args, offset });
}
