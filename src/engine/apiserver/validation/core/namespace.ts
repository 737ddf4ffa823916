import { isQualifiedName } from '../../../../kube/names.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import { path, type Path } from '../path.ts';

const FINALIZERS = path('spec', 'finalizers');
const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

export function validateNamespace(out: Findings, namespace: KubeObject, old: KubeObject | undefined, subresource: string): void {
  const finalizers: string[] = namespace.spec?.finalizers ?? [];
  if (subresource === 'status' && old !== undefined) return checkPhase(out, namespace);
  const inFinalize = subresource === 'finalize';
  finalizers.forEach((name, i) => checkFinalizer(out, name, inFinalize ? FINALIZERS.index(i) : FINALIZERS));
}

function checkFinalizer(out: Findings, name: string, at: Path): void {
  out.invalidEach(at, name, isQualifiedName(name));
  if (!name.includes('/') && !STANDARD_FINALIZERS.has(name)) {
    out.invalid(at, name, 'name is neither a standard finalizer name nor is it fully qualified');
  }
}

function checkPhase(out: Findings, namespace: KubeObject): void {
  const phase: string = namespace.status?.phase ?? '';
  const [expected, state] = namespace.metadata.deletionTimestamp ? ['Terminating', 'not empty'] : ['Active', 'empty'];
  if (phase !== expected) {
    out.invalid(path('status', 'Phase'), phase, `may only be '${expected}' if \`deletionTimestamp\` is ${state}`);
  }
}
