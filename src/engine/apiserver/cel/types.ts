/** CEL types. `struct` types have fields; `opaque` ones only parameters; `param` stands for a type yet to be found. */
export type CelKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'struct'
  | 'opaque'
  | 'type'
  | 'param';

export interface CelType {
  readonly kind: CelKind;
  /** The name at run time, as `type(x)` shows it. */
  readonly name: string;
  readonly params: readonly CelType[];
  /** Fields of a struct, by their escaped names. */
  readonly fields?: FieldTypes;
}

/** The fields of a struct type, found when asked for. */
export interface FieldTypes {
  find(name: string): CelType | undefined;
}

const NO_TYPES: readonly CelType[] = [];

function simple(kind: CelKind, name: string): CelType {
  return { kind, name, params: NO_TYPES };
}

export const DYN = simple('dyn', 'dyn');
export const ERROR = simple('error', '!error!');
export const NULL = simple('null', 'null_type');
export const BOOL = simple('bool', 'bool');
export const INT = simple('int', 'int');
export const UINT = simple('uint', 'uint');
export const DOUBLE = simple('double', 'double');
export const STRING = simple('string', 'string');
export const BYTES = simple('bytes', 'bytes');
export const TIMESTAMP = simple('timestamp', 'google.protobuf.Timestamp');
export const DURATION = simple('duration', 'google.protobuf.Duration');
export const TYPE = simple('type', 'type');

export const listOf = (element: CelType): CelType => ({ kind: 'list', name: 'list', params: [element] });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', name: 'map', params: [key, value] });
export const typeOf = (type: CelType): CelType => ({ kind: 'type', name: 'type', params: [type] });
export const typeParam = (name: string): CelType => ({ kind: 'param', name, params: NO_TYPES });
export const opaque = (name: string, params: readonly CelType[] = NO_TYPES): CelType => ({ kind: 'opaque', name, params });
export const optionalOf = (type: CelType): CelType => opaque('optional_type', [type]);
export const struct = (name: string, fields?: FieldTypes): CelType => ({ kind: 'struct', name, params: NO_TYPES, fields });

/** Types of the Kubernetes libraries: opaque values with functions, and no fields. */
export const QUANTITY = struct('kubernetes.Quantity');
export const URL_TYPE = struct('kubernetes.URL');
export const SEMVER = struct('kubernetes.Semver');
export const NAMED_FORMAT = struct('kubernetes.NamedFormat');
export const AUTHORIZER = struct('kubernetes.authorization.Authorizer');
export const PATH_CHECK = struct('kubernetes.authorization.PathCheck');
export const GROUP_CHECK = struct('kubernetes.authorization.GroupCheck');
export const RESOURCE_CHECK = struct('kubernetes.authorization.ResourceCheck');
export const DECISION = struct('kubernetes.authorization.Decision');
export const IP = opaque('net.IP');
export const CIDR = opaque('net.CIDR');

/** Names that stand for types in expressions, as in `type(x) == int`. */
export const TYPE_NAMES: Readonly<Record<string, CelType>> = {
  bool: BOOL,
  bytes: BYTES,
  double: DOUBLE,
  'google.protobuf.Duration': DURATION,
  int: INT,
  list: listOf(DYN),
  map: mapOf(DYN, DYN),
  null_type: NULL,
  string: STRING,
  'google.protobuf.Timestamp': TIMESTAMP,
  type: TYPE,
  uint: UINT,
  optional_type: optionalOf(DYN),
  'net.IP': IP,
  'net.CIDR': CIDR,
};

const SHOWN: Partial<Record<CelKind, string>> = { null: 'null', timestamp: 'timestamp', duration: 'duration', error: '!error!' };

/** How a type is written in messages: `map(string, list(int))`. */
export function typeText(type: CelType): string {
  const shown = SHOWN[type.kind];
  if (shown !== undefined) return shown;
  return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(typeText).join(', ')})`;
}

export function sameType(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind || left.name !== right.name || left.params.length !== right.params.length) return false;
  return left.params.every((param, at) => sameType(param, right.params[at]));
}

export function isOptional(type: CelType): boolean {
  return type.kind === 'opaque' && type.name === 'optional_type';
}

export function isDyn(type: CelType): boolean {
  return type.kind === 'dyn';
}
