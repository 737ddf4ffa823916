/** Codes of the Kafka protocol, as far as rights of plugins need them. */
export const ResourceType = { any: 1, topic: 2, group: 3, transactionalId: 5 } as const;
export const PatternType = { any: 1, literal: 3, prefixed: 4 } as const;
export const Operation = { any: 1, read: 3, write: 4, describe: 8 } as const;
export const Permission = { any: 1, allow: 3 } as const;

/** One line of an ACL, in the protocol's own shape. */
export interface BrokerRule {
  resourceType: number;
  resourceName: string;
  resourcePatternType: number;
  principal: string;
  host: string;
  operation: number;
  permissionType: number;
}

type Resource = Pick<BrokerRule, 'resourceType' | 'resourceName' | 'resourcePatternType'>;

export function topic(resourceName: string): Resource {
  return { resourceType: ResourceType.topic, resourceName, resourcePatternType: PatternType.literal };
}

export function prefixed(resourceType: number, resourceName: string): Resource {
  return { resourceType, resourceName, resourcePatternType: PatternType.prefixed };
}

export function allow(user: string, resource: Resource, operations: readonly number[]): BrokerRule[] {
  return operations.map((operation) => ({
    ...resource,
    principal: principalOf(user),
    host: '*',
    operation,
    permissionType: Permission.allow,
  }));
}

export function principalOf(user: string): string {
  return `User:${user}`;
}

/** Rules are the same when this is. */
export function ruleKey(rule: BrokerRule): string {
  return JSON.stringify([
    rule.resourceType,
    rule.resourceName,
    rule.resourcePatternType,
    rule.principal,
    rule.host,
    rule.operation,
    rule.permissionType,
  ]);
}
