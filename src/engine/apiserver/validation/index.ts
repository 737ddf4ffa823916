import type { FieldError } from '../../../kube/field-error.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { validateControllerRevision } from './apps/controller-revision.ts';
import { validateDaemonSet } from './apps/daemon-set.ts';
import { validateDeployment } from './apps/deployment.ts';
import { validateReplicaSet } from './apps/replica-set.ts';
import { validateStatefulSet } from './apps/stateful-set.ts';
import { validateCronJob } from './batch/cron-job.ts';
import { validateJob } from './batch/job.ts';
import { validateEndpoints } from './core/endpoints.ts';
import { validateReplicationController } from './core/replication-controller.ts';
import { validateConfigMap, validateSecret } from './core/secret.ts';
import { validateService } from './core/service.ts';
import { Findings } from './findings.ts';
import { validateBinding, validatePod } from './pod/pod.ts';
import { validatePodTemplateObject } from './pod/template.ts';

export interface ValidationContext {
  /** '' or absent for the main resource. */
  subresource?: string;
}

type Validator = (out: Findings, object: KubeObject, old: KubeObject | undefined, subresource: string, context: ValidationContext) => void;

const VALIDATORS: Record<string, Validator> = {
  '/Binding': validateBinding,
  '/ConfigMap': validateConfigMap,
  '/Endpoints': validateEndpoints,
  '/Pod': validatePod,
  '/PodTemplate': validatePodTemplateObject,
  '/ReplicationController': validateReplicationController,
  '/Secret': validateSecret,
  '/Service': validateService,
  'apps/ControllerRevision': validateControllerRevision,
  'apps/DaemonSet': validateDaemonSet,
  'apps/Deployment': validateDeployment,
  'apps/ReplicaSet': validateReplicaSet,
  'apps/StatefulSet': validateStatefulSet,
  'batch/CronJob': validateCronJob,
  'batch/Job': validateJob,
};

/**
 * What is wrong with a built-in object, in Kubernetes' words and order; metadata is checked elsewhere. The object is decoded:
 * types are right, defaults applied, quantities canonical. `old` is what is stored, on updates.
 */
export function validateBuiltin(
  kind: { group: string; kind: string },
  object: KubeObject,
  old?: KubeObject,
  context: ValidationContext = {},
): FieldError[] {
  const validate = VALIDATORS[`${kind.group}/${kind.kind}`];
  if (validate === undefined) return NOTHING;
  const out = new Findings();
  validate(out, object, old, context.subresource ?? '', context);
  return out.list;
}

const NOTHING: FieldError[] = [];
