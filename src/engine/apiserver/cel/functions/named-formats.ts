import { NAME_RULES } from '../../../../kube/metadata-validation.ts';
import { isLabelValue, isQualifiedName } from '../../../../kube/names.ts';
import { FORMATS } from '../../schema/formats.ts';
import { CelOpaque, CelOptional, NO_SUCH_OVERLOAD, NONE, ValueList } from '../values.ts';
import type { FunctionTable } from './function-table.ts';

/** Kubernetes' format library: named checks of strings. */
export class CelFormat extends CelOpaque {
  readonly typeName = 'kubernetes.NamedFormat';
  readonly name: string;
  readonly check: (text: string) => string[];
  /** Length of the regular expression it stands for, which its cost is counted by. */
  readonly regexSize: number;

  constructor(name: string, regexSize: number, check: (text: string) => string[]) {
    super();
    this.name = name;
    this.regexSize = regexSize;
    this.check = check;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelFormat && other.name === this.name;
  }
}

function checkedBy(format: string, complaint: string): (text: string) => string[] {
  return (text) => (FORMATS[format](text) ? [] : [complaint]);
}

const DATE_TIME_SIZE = 71;
const NAMED: Record<string, CelFormat> = {
  dns1123Label: new CelFormat('DNS1123Label', 30, (text) => NAME_RULES['dns-label'](text, false)),
  dns1123Subdomain: new CelFormat('DNS1123Subdomain', 60, (text) => NAME_RULES['dns-subdomain'](text, false)),
  dns1035Label: new CelFormat('DNS1035Label', 30, (text) => NAME_RULES['dns1035-label'](text, false)),
  qualifiedName: new CelFormat('QualifiedName', 60, isQualifiedName),
  dns1123LabelPrefix: new CelFormat('DNS1123LabelPrefix', 30, (text) => NAME_RULES['dns-label'](text, true)),
  dns1123SubdomainPrefix: new CelFormat('DNS1123SubdomainPrefix', 60, (text) => NAME_RULES['dns-subdomain'](text, true)),
  dns1035LabelPrefix: new CelFormat('DNS1035LabelPrefix', 30, (text) => NAME_RULES['dns1035-label'](text, true)),
  labelValue: new CelFormat('LabelValue', 40, isLabelValue),
  uri: new CelFormat('URI', 1103, (text) =>
    FORMATS.uri(text) ? [] : [text === '' ? 'parse "": empty url' : `parse ${JSON.stringify(text)}: invalid URI for request`],
  ),
  uuid: new CelFormat('uuid', 70, checkedBy('uuid', 'does not match the UUID format')),
  byte: new CelFormat('byte', 84, checkedBy('byte', 'invalid base64')),
  date: new CelFormat('date', DATE_TIME_SIZE, checkedBy('date', 'invalid date')),
  datetime: new CelFormat('datetime', DATE_TIME_SIZE, checkedBy('datetime', 'invalid datetime')),
};

export const NAMED_FORMATS: FunctionTable = {
  ...Object.fromEntries(Object.entries(NAMED).map(([name, format]) => [`format.${name}`, () => format])),
  'format.named': ([name]) => {
    if (typeof name !== 'string') return NO_SUCH_OVERLOAD;
    return Object.hasOwn(NAMED, name) ? new CelOptional(NAMED[name]) : NONE;
  },
  validate: ([format, text]) => {
    if (!(format instanceof CelFormat) || typeof text !== 'string') return NO_SUCH_OVERLOAD;
    const complaints = format.check(text);
    return complaints.length === 0 ? NONE : new CelOptional(new ValueList(complaints));
  },
};
