import type { KubeObject } from '../../../../kube/object.ts';
import { isStatusError } from '../../../../kube/status.ts';
import type { ObjectWriter } from '../../registry/objects.ts';
import { typeCheckPolicy, type TypeCheckPorts } from './type-checking.ts';

const POLICIES = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' };

export interface PolicyStatusOptions extends TypeCheckPorts {
  writer: ObjectWriter;
  onError: (error: unknown) => void;
}

/** Type-checks policies when their spec changed and writes the findings into their status. Returns the way to stop. */
export function keepPolicyStatus(options: PolicyStatusOptions): () => void {
  const { writer, onError } = options;

  async function check(policy: KubeObject): Promise<void> {
    const { name, generation = 0 } = policy.metadata;
    if (generation <= (policy.status?.observedGeneration ?? 0) || policy.metadata.deletionTimestamp !== undefined) return;
    const warnings = typeCheckPolicy(policy, options);
    await writer.update(
      POLICIES,
      '',
      name!,
      (draft) => {
        // A newer spec gets its own check.
        if (draft.metadata.generation !== generation) return false;
        draft.status = {
          ...draft.status,
          observedGeneration: generation,
          typeChecking: warnings.length > 0 ? { expressionWarnings: warnings } : {},
        };
        return true;
      },
      'status',
    );
  }

  const look = (policy: KubeObject) => {
    check(policy).catch((error: unknown) => {
      if (!isStatusError(error, 'NotFound')) onError(error);
    });
  };
  const stop = writer.onChange(POLICIES, ({ type, object }) => {
    if (type !== 'DELETED') look(object);
  });
  for (const policy of writer.list(POLICIES)) look(policy);
  return stop;
}
