import type { Json } from '../../../../kube/object.ts';
import { fieldsOf, type GoType } from './go-type.ts';

/** Names every field that its type does not have, as Kubernetes' strict decoding does: `spec.containers[0].imagee`. */
export function reportUnknownFields(type: GoType, value: Json, report: (path: string) => void, path = ''): void {
  if (typeof value !== 'object' || value === null) return;
  switch (type.form) {
    case 'pointer':
      reportUnknownFields(type.element, value, report, path);
      break;
    case 'slice':
      value.forEach((item: Json, index: number) => reportUnknownFields(type.element, item, report, `${path}[${index}]`));
      break;
    case 'map':
      for (const key of Object.keys(value)) reportUnknownFields(type.element, value[key], report, join(path, key));
      break;
    case 'struct':
      reportUnknownInStruct(type.definition, value, report, path);
      break;
    case 'special':
    case 'string':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'float64':
    case 'bytes':
    case 'any':
      break;
  }
}

function reportUnknownInStruct(definition: string, value: Json, report: (path: string) => void, path: string): void {
  const fields = fieldsOf(definition);
  for (const key of Object.keys(value)) {
    const field = fields.find((candidate) => candidate.json === key);
    if (field) reportUnknownFields(field.type, value[key], report, join(path, key));
    else report(join(path, key));
  }
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
