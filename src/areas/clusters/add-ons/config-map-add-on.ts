import { parseAllDocuments } from 'yaml';
import { isJsonObject } from '../../../kube/json-value.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { AddOn } from './add-on.ts';

/** Manifests of the operator: each key of the ConfigMap holds one or more. @throws Error what is wrong with them */
export function configMapAddOn(name: string, data: Readonly<Record<string, string>>): AddOn {
  const objects = Object.keys(data)
    .sort()
    .flatMap((key) => manifestsOf(key, data[key]));
  return { name, objects };
}

function manifestsOf(key: string, text: string): KubeObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`"${key}" is no YAML: ${document.errors[0].message}`);
    const value: unknown = document.toJS();
    if (value === null) return [];
    const isManifest = isJsonObject(value) && typeof value.apiVersion === 'string' && typeof value.kind === 'string';
    if (!isManifest || !isJsonObject(value.metadata) || typeof value.metadata.name !== 'string') {
      throw new Error(`"${key}" holds something without apiVersion, kind and metadata.name`);
    }
    return [value as KubeObject];
  });
}
