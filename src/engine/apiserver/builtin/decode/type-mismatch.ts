/**
 * Thrown by the fast decoders when a value has the wrong type. They do not know where they are: keeping a path would cost every
 * well-formed request. Whoever catches this walks the object again with `explainMismatch`.
 */
export class TypeMismatch extends Error {
  constructor() {
    super('type mismatch');
    this.name = 'TypeMismatch';
  }
}

const limit = Error.stackTraceLimit;

export function mismatch(): never {
  Error.stackTraceLimit = 0;
  const error = new TypeMismatch();
  Error.stackTraceLimit = limit;
  throw error;
}
