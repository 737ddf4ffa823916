import type { Frame } from './frame.ts';
import type { CelValue } from './values.ts';

/** Evaluation that can pause, for expressions with folds. */
export type SlicedValue = Generator<void, CelValue, void>;

/**
 * A part of an expression, ready to run. `sliced` is there for parts with a fold in them, and does the same with pauses.
 * Whether a part is an attribute (a variable, or a path into one) matters for its cost alone.
 */
export interface Step {
  run(frame: Frame): CelValue;
  sliced?(frame: Frame): SlicedValue;
  constant?: { value: CelValue };
  attribute?: boolean;
}
