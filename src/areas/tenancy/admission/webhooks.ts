import type { KubeObject } from '../../../kube/object.ts';
import type { AdmissionHandler } from '../../../runtime/admission/review.ts';
import type { TenancyEnvironment } from '../tenancy-environment.ts';
import { anchorHandler } from './hierarchy/anchor-handler.ts';
import { hierarchyHandler } from './hierarchy/hierarchy-handler.ts';
import {
  ANCHOR_RULE,
  HIERARCHY_RULE,
  NAMESPACE_LABEL_RULE,
  NAMESPACE_RULE,
  NAMESPACE_SUBRESOURCE_RULE,
  PLATFORM_NAMESPACE_RULE,
} from './hierarchy/hierarchy-rules.ts';
import { KIND_RULES, TREE_WEBHOOKS } from './kind-rules.ts';
import { movedOverwrites } from './hierarchy/moved-overwrites.ts';
import { namespaceHandler } from './hierarchy/namespace-handler.ts';
import { namespaceLabelHandler } from './hierarchy/namespace-label-handler.ts';
import { hierarchicalQuotaHandler } from './quota/hierarchical-quota.ts';
import { HIERARCHICAL_QUOTA_RULE, QUOTA_STATUS_RULE, RUN_PLACES_RULE } from './quota/quota-rules.ts';
import { runPlacesHandler } from './quota/run-places.ts';
import { quotaStatusHandler } from './quota/quota-status.ts';
import { configurationHandler } from './objects/configuration.ts';
import { CONFIGURATION_RULE, OBJECTS_RULE, PLATFORM_COPIES_RULE } from './objects/objects-rules.ts';
import { objectsHandler } from './objects/objects.ts';
import { platformCopiesHandler } from './objects/platform-copies.ts';
import { tenantHandlers } from './tenant/tenant-handlers.ts';
import {
  BINDING_RULE,
  GUARD_RULE,
  NOBODYS_PLACEMENT_RULE,
  NOBODYS_PODS_RULE,
  PLACEMENT_RULE,
  WORKLOAD_RULE,
} from './tenant/tenant-rules.ts';
import { webhookConfigurations, type WebhookAddress, type WebhookRule } from '../../../runtime/admission/webhook-rules.ts';

/** The rules on everything else, registered once there is a tree to keep them for. */
export const TREE_RULES: readonly WebhookRule[] = [
  NAMESPACE_RULE,
  PLATFORM_NAMESPACE_RULE,
  NAMESPACE_SUBRESOURCE_RULE,
  NAMESPACE_LABEL_RULE,
  OBJECTS_RULE,
  PLATFORM_COPIES_RULE,
  PLACEMENT_RULE,
  NOBODYS_PLACEMENT_RULE,
  WORKLOAD_RULE,
  NOBODYS_PODS_RULE,
  BINDING_RULE,
  GUARD_RULE,
];

/** The rules that stand for what the embedded engine does within itself. */
const KUBERNETES_RULES: readonly WebhookRule[] = [QUOTA_STATUS_RULE, RUN_PLACES_RULE];

/** What is registered with a Kubernetes: one set, and the name that the controller of its rules knows. */
export function kubernetesWebhooks(address: WebhookAddress): KubeObject[] {
  return webhookConfigurations(TREE_WEBHOOKS, [...KIND_RULES, ...TREE_RULES, ...KUBERNETES_RULES], address);
}

/** What decides, by path. */
export function admissionHandlers(environment: TenancyEnvironment): Record<string, AdmissionHandler> {
  const { forest, client, types } = environment;
  return {
    [ANCHOR_RULE.path]: anchorHandler(environment),
    [HIERARCHY_RULE.path]: hierarchyHandler({ forest, client, overwrittenByMove: movedOverwrites(forest, types) }),
    [NAMESPACE_RULE.path]: namespaceHandler(environment),
    [NAMESPACE_LABEL_RULE.path]: namespaceLabelHandler(environment),
    [CONFIGURATION_RULE.path]: configurationHandler(environment),
    [OBJECTS_RULE.path]: objectsHandler(environment),
    [PLATFORM_COPIES_RULE.path]: platformCopiesHandler,
    [HIERARCHICAL_QUOTA_RULE.path]: hierarchicalQuotaHandler(environment),
    [QUOTA_STATUS_RULE.path]: quotaStatusHandler(environment),
    [RUN_PLACES_RULE.path]: runPlacesHandler(environment),
    ...tenantHandlers(environment),
  };
}
