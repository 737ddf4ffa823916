import { ANCHOR_RULE, HIERARCHY_RULE } from './hierarchy/hierarchy-rules.ts';
import { HIERARCHICAL_QUOTA_RULE } from './quota/quota-rules.ts';
import { CONFIGURATION_RULE } from './objects/objects-rules.ts';
import { TENANT_RULE } from './tenant/tenant-rules.ts';
import type { WebhookRule } from '../../../runtime/admission/webhook-rules.ts';

/** The configurations that hold the rules on everything else. */
export const TREE_WEBHOOKS = 'tenantry-tree';

/**
 * The rules on our own kinds. They are registered with the kinds themselves; on the embedded engine the first one that is asked starts
 * the area, so this file loads nothing of it.
 */
export const KIND_RULES: readonly WebhookRule[] = [ANCHOR_RULE, HIERARCHY_RULE, CONFIGURATION_RULE, HIERARCHICAL_QUOTA_RULE, TENANT_RULE];
