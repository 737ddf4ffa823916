import type { Findings } from '../findings.ts';
import type { Path } from '../path.ts';

/** How an expression is used; what it may refer to and must return follow from that. */
export interface CelUse {
  returns: 'bool' | 'string' | 'stringOrNull' | 'any';
  hasParams: boolean;
  hasAuthorizer: boolean;
  /** Names that `variables.` may be followed by, in order. */
  variables: { name: string; expression: string }[];
}

/** Compiles an expression. @returns what is wrong with it. */
export type CelCheck = (expression: string, use: CelUse) => string | undefined;

export function checkExpression(out: Findings, expression: string, use: CelUse, check: CelCheck | undefined, at: Path): void {
  const error = check?.(expression, use);
  if (error !== undefined) out.invalid(at, expression, error);
}
