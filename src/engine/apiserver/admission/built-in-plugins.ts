import { randomSuffix } from '../../../lib/ids.ts';
import type { Authorizer } from '../auth/user.ts';
import type { ObjectWriter } from '../registry/objects.ts';
import type { AdmissionPlugin } from './admission.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';
import { persistentVolumeClaimResize } from './claim-resize.ts';
import { defaultIngressClass, defaultStorageClass } from './default-classes.ts';
import { limitRanger } from './limit-ranger/limit-ranger.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { nodeRestriction } from './node-restriction/node-restriction.ts';
import { defaultTolerationSeconds, podTopologyLabels, taintNodesByCondition } from './node-defaults.ts';
import { podSecurity, type PodSecurityOptions } from './pod-security/pod-security.ts';
import { priority } from './priority.ts';
import { resourceQuota, type WiderQuota } from './quota/resource-quota.ts';
import { runtimeClass } from './runtime-class.ts';
import { serviceAccount } from './service-account/service-account.ts';
import { storageObjectInUseProtection } from './storage-protection.ts';

const VOLUME_SUFFIX_LENGTH = 5;

export interface BuiltInPluginOptions {
  writer: ObjectWriter;
  authorizer: Authorizer;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The organizations in a PEM certificate request. @throws when it is not one. */
  organizationsOf: (requestPem: string) => string[] | Promise<string[]>;
  /** The common name in a PEM certificate request. @throws when it is not one. Absent: what nodes write is not judged. */
  commonNameOf?: (requestPem: string) => string;
  podSecurity?: Omit<PodSecurityOptions, 'reader'>;
  /** Limits of more than one namespace together, once somebody keeps them. */
  widerQuota?: () => WiderQuota | undefined;
  onError?: (error: unknown) => void;
}

/** The plugins that kube-apiserver runs by default, without webhooks and policies. */
export function builtInPlugins(options: BuiltInPluginOptions): AdmissionPlugin[] {
  const { writer, authorizer } = options;
  return [
    namespaceLifecycle(writer),
    limitRanger(writer),
    serviceAccount({ reader: writer, randomSuffix: () => randomSuffix(VOLUME_SUFFIX_LENGTH) }),
    ...(options.commonNameOf ? [nodeRestriction({ reader: writer, authorizer, commonNameOf: options.commonNameOf })] : []),
    taintNodesByCondition,
    podSecurity({ reader: writer, ...options.podSecurity }),
    priority(writer),
    defaultTolerationSeconds,
    defaultStorageClass(writer),
    storageObjectInUseProtection,
    persistentVolumeClaimResize(writer),
    runtimeClass(writer),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    certificateSubjectRestriction(options.organizationsOf),
    defaultIngressClass(writer),
    podTopologyLabels(writer),
    resourceQuota({ writer, wider: options.widerQuota, now: options.now, onError: options.onError }),
  ];
}
