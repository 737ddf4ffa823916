import {
  describeAclsV3,
  describeClientQuotasV0,
  describeConfigsV4,
  describeUserScramCredentialsV0,
  type AclFilter,
} from '@platformatic/kafka';
import { tolerating, type KafkaClient } from './kafka-client.ts';
import type { BrokerState } from './model/broker-difference.ts';
import { Operation, PatternType, Permission, principalOf, ResourceType, type BrokerRule } from './model/broker-rules.ts';
import type { WantedEvents } from './model/wanted-events.ts';

/** Above so many users one answer with everything costs less than a question for each. */
const ASK_ONE_BY_ONE = 4;
const SCRAM_SHA_512 = 2;
const TOPIC_CONFIG = 2;
const MATCH_EXACT = 0;
const MATCH_ANY = 2;

/** What the broker holds of what is wanted: five questions, however many plugins it is about. */
export async function readBrokerState(client: KafkaClient, wanted: readonly WantedEvents[]): Promise<BrokerState> {
  const topics = [...new Set(wanted.flatMap((each) => each.topics.map(({ name }) => name)))];
  const users = [...new Set(wanted.flatMap((each) => each.users.map(({ name }) => name)))];
  const [found, iterations, rules, quotas] = await Promise.all([
    readTopics(client, topics, Object.keys(wanted.find((each) => each.topics.length > 0)?.topics[0].configs ?? {})),
    readIterations(client, users),
    readRules(client, users),
    readQuotas(client, users),
  ]);
  return { topics: found, iterations, rules, quotas };
}

async function readTopics(client: KafkaClient, names: string[], keys: string[]): Promise<BrokerState['topics']> {
  if (names.length === 0) return new Map();
  const { topics } = await client.view(names);
  if (topics.size === 0) return new Map();
  const resources = [...topics.keys()].map(
    (resourceName) => ({ resourceType: TOPIC_CONFIG, resourceName, configurationKeys: keys }) as const,
  );
  const { results } = await tolerating(['UNKNOWN_TOPIC_OR_PARTITION'], () => client.ask(describeConfigsV4.api, resources, false, false));
  const configs = new Map(
    results.map(({ resourceName, configs: own }) => [resourceName, new Map(own.map((each) => [each.name, each.value ?? '']))]),
  );
  return new Map([...topics].map(([name, leaders]) => [name, { partitions: leaders.length, configs: configs.get(name) ?? new Map() }]));
}

async function readIterations(client: KafkaClient, users: string[]): Promise<Map<string, number>> {
  const asked = users.map((name) => ({ name }));
  // Who has no password is an error of its own, beside the answers about the others.
  const { results } = await tolerating(['RESOURCE_NOT_FOUND'], () => client.ask(describeUserScramCredentialsV0.api, asked));
  const found = results.flatMap(({ user, credentialInfos }) =>
    credentialInfos.filter(({ mechanism }) => mechanism === SCRAM_SHA_512).map(({ iterations }) => [user, iterations] as const),
  );
  return new Map(found);
}

async function readRules(client: KafkaClient, users: string[]): Promise<Map<string, BrokerRule[]>> {
  const principals = users.length > ASK_ONE_BY_ONE ? [null] : users.map(principalOf);
  const answers = await Promise.all(principals.map((principal) => client.ask(describeAclsV3.api, anyRuleOf(principal))));
  const wanted = new Set(users.map(principalOf));
  const rules = new Map<string, BrokerRule[]>();
  for (const { resources } of answers) {
    for (const { acls, ...resource } of resources) {
      for (const acl of acls.filter(({ principal }) => wanted.has(principal))) {
        rules.set(acl.principal, [...(rules.get(acl.principal) ?? []), { ...resource, ...acl }]);
      }
    }
  }
  return rules;
}

function anyRuleOf(principal: string | null): AclFilter {
  return {
    resourceType: ResourceType.any,
    resourceName: null,
    resourcePatternType: PatternType.any,
    principal,
    host: null,
    operation: Operation.any,
    permissionType: Permission.any,
  };
}

async function readQuotas(client: KafkaClient, users: string[]): Promise<Map<string, Record<string, number>>> {
  const questions: Parameters<typeof describeClientQuotasV0.createRequest>[0] =
    users.length > ASK_ONE_BY_ONE
      ? [{ entityType: 'user', matchType: MATCH_ANY }]
      : users.map((match) => ({ entityType: 'user', matchType: MATCH_EXACT, match }));
  const answers = await Promise.all(questions.map((question) => client.ask(describeClientQuotasV0.api, [question], true)));
  const wanted = new Set(users);
  return new Map(
    answers
      .flatMap(({ entries }) => entries)
      .filter(({ entity }) => wanted.has(entity[0]?.entityName ?? ''))
      .map(({ entity, values }) => [entity[0].entityName!, Object.fromEntries(values.map(({ key, value }) => [key, value]))]),
  );
}
