import { AMOUNTS } from './amounts.ts';
import { AUTHORIZATION } from './authorizer.ts';
import type { CelFunction, FunctionTable, SlicedFunction } from './function-table.ts';
import { LONG_TEXT } from './long-text.ts';
import { LISTS } from './lists.ts';
import { NAMED_FORMATS } from './named-formats.ts';
import { NETWORK } from './network.ts';
import { PATTERNS } from './patterns.ts';
import { STANDARD } from './standard.ts';
import { TEXT } from './text.ts';

const LIBRARY: FunctionTable = { ...STANDARD, ...TEXT, ...LISTS, ...NETWORK, ...AMOUNTS, ...NAMED_FORMATS, ...AUTHORIZATION };

const PAUSING: Record<string, SlicedFunction> = { ...PATTERNS, ...LONG_TEXT };

export function implementation(name: string): CelFunction | undefined {
  return Object.hasOwn(LIBRARY, name) ? LIBRARY[name] : undefined;
}

/** Those that pause; they are in no other table. */
export function slicedImplementation(name: string): SlicedFunction | undefined {
  return Object.hasOwn(PAUSING, name) ? PAUSING[name] : undefined;
}
