import { isConfigMapKey, isDns1123Subdomain, isRelaxedEnvVarName } from '../../../../kube/names.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { checkDnsLabel } from '../formats.ts';
import { checkNoBacksteps } from '../relative-paths.ts';
import type { Path } from '../path.ts';
import { checkFieldRef, checkResourceFieldRef, ENV_FIELDS } from './downward-api.ts';
import { visitContainers } from './visit.ts';

export function checkEnv(out: Findings, variables: Json[], at: Path): void {
  for (let i = 0; i < variables.length; i++) {
    const variable = variables[i];
    if (!variable.name) out.required(at.index(i).child('name'));
    else {
      const messages = isRelaxedEnvVarName(variable.name);
      if (messages.length > 0) out.invalidEach(at.index(i).child('name'), variable.name, messages);
    }
    if (variable.valueFrom !== undefined) checkValueFrom(out, variable, at.index(i).child('valueFrom'));
  }
}

function checkValueFrom(out: Findings, variable: Json, at: Path): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = variable.valueFrom;
  if (fieldRef !== undefined) checkFieldRef(out, fieldRef, ENV_FIELDS, at.child('fieldRef'));
  if (resourceFieldRef !== undefined) checkResourceFieldRef(out, resourceFieldRef, at.child('resourceFieldRef'), false);
  if (configMapKeyRef !== undefined) checkKeyRef(out, configMapKeyRef, at.child('configMapKeyRef'));
  if (secretKeyRef !== undefined) checkKeyRef(out, secretKeyRef, at.child('secretKeyRef'));
  if (fileKeyRef !== undefined) checkFileKeyRef(out, fileKeyRef, at.child('fileKeyRef'));
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter((s) => s !== undefined).length;
  if (sources === 0) {
    out.invalid(at, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`');
  } else if (variable.value) out.invalid(at, '', 'may not be specified when `value` is not empty');
  else if (sources > 1) out.invalid(at, '', 'may not have more than one field specified at a time');
}

function checkKeyRef(out: Findings, ref: Json, at: Path): void {
  const name: string = ref.name ?? '';
  out.invalidEach(at.child('name'), name, isDns1123Subdomain(name));
  if (!ref.key) out.required(at.child('key'));
  else out.invalidEach(at.child('key'), ref.key, isConfigMapKey(ref.key));
}

function checkFileKeyRef(out: Findings, ref: Json, at: Path): void {
  if (!ref.key) out.required(at.child('key'));
  else out.invalidEach(at.child('key'), ref.key, isRelaxedEnvVarName(ref.key));
  if (!ref.volumeName) out.required(at.child('volumeName'));
  else checkDnsLabel(out, ref.volumeName, at.child('volumeName'));
  if (!ref.path) out.required(at.child('path'));
  else checkNoBacksteps(out, ref.path, at.child('path'));
}

export function checkEnvFrom(out: Findings, sources: Json[], at: Path): void {
  for (let i = 0; i < sources.length; i++) {
    const { prefix, configMapRef, secretRef } = sources[i];
    const itemAt = at.index(i);
    if (prefix) out.invalidEach(itemAt.child('prefix'), prefix, isRelaxedEnvVarName(prefix));
    if (configMapRef !== undefined) checkEnvSourceName(out, configMapRef.name, itemAt.child('configMapRef', 'name'));
    if (secretRef !== undefined) checkEnvSourceName(out, secretRef.name, itemAt.child('secretRef', 'name'));
    if (configMapRef === undefined && secretRef === undefined) out.invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (configMapRef !== undefined && secretRef !== undefined) {
      out.invalid(at, '', 'may not have more than one field specified at a time');
    }
  }
}

/** Checked like the prefix of a generated name, so it may end in a dash. */
function checkEnvSourceName(out: Findings, name: string | undefined, at: Path): void {
  if (!name) return out.required(at);
  const masked = name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
  out.invalidEach(at, name, isDns1123Subdomain(masked));
}

/** Files that variables are read from must lie in an emptyDir of the Pod. */
export function checkFileKeyVolumes(out: Findings, spec: Json, at: Path): void {
  let volumes: Map<string, Json> | undefined;
  visitContainers(spec, at, (container, containerAt) => {
    const variables: Json[] = container.env ?? [];
    for (let i = 0; i < variables.length; i++) {
      const ref = variables[i].valueFrom?.fileKeyRef;
      if (ref === undefined) continue;
      volumes ??= new Map((spec.volumes ?? []).map((v: Json) => [v.name ?? '', v]));
      const nameAt = containerAt().child('env').index(i).child('valueFrom', 'fileKeyRef', 'volumeName');
      const name: string = ref.volumeName ?? '';
      const volume = volumes.get(name);
      if (volume === undefined) out.notFound(nameAt, name);
      else if (volume.emptyDir === undefined) out.invalid(nameAt, name, 'referenced volume must be of type emptyDir');
    }
  });
}
