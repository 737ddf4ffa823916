import { parseApiVersion, type KubeObject } from '../../../../kube/object.ts';
import type { AdmissionRequest } from '../admission.ts';

export interface RecordedRequest extends AdmissionRequest {
  warnings: string[];
  annotations: Record<string, string>;
}

/** An admission request for tests; what it warns and annotates is kept. */
export function aRequest(resource: string, object: KubeObject | undefined, changes: Partial<AdmissionRequest> = {}): RecordedRequest {
  const subject = object ?? changes.oldObject!;
  const { group, version } = parseApiVersion(subject.apiVersion);
  const warnings: string[] = [];
  const annotations: Record<string, string> = {};
  return {
    operation: 'CREATE',
    resource: { group, version, resource },
    kind: { group, version, kind: subject.kind },
    subresource: '',
    namespace: subject.metadata.namespace ?? '',
    name: subject.metadata.name ?? '',
    user: { name: 'jane', groups: ['system:authenticated'] },
    object: object && structuredClone(object),
    options: {},
    dryRun: false,
    warn: (text) => void warnings.push(text),
    annotate: (key, value) => void (annotations[key] = value),
    signal: new AbortController().signal,
    warnings,
    annotations,
    ...changes,
  };
}

/** The message of what `act` throws or rejects with; '' when it does neither. */
export async function refusalOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

export function aNamespace(name: string, labels: Record<string, string> = {}, phase = 'Active'): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels }, status: { phase } };
}

export function aPod(spec: Record<string, unknown> = {}, metadata: KubeObject['metadata'] = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'team', ...metadata },
    spec: { containers: [{ name: 'c', image: 'busybox' }], ...spec },
  };
}
