import {
  alterClientQuotasV1,
  alterUserScramCredentialsV0,
  createAclsV3,
  createPartitionsV3,
  createTopicsV7,
  deleteAclsV3,
  incrementalAlterConfigsV1,
  type Acl,
  type ClientQuotaKeyValue,
} from '@platformatic/kafka';
import { tolerating, type KafkaClient } from './kafka-client.ts';
import type { BrokerChanges } from './model/broker-difference.ts';
import { saltedPassword } from './scram-password.ts';

const TIMEOUT_MS = 10_000;
const SCRAM_SHA_512 = 2;
const TOPIC_CONFIG = 2;
const SET = 0;

/**
 * Writes what differs. A view of a broker can be a moment old, so what is there already, or gone already, is as good as done. The password
 * comes last: who gets one is held back by then, and who loses one has lost its rights before.
 */
export async function applyBrokerChanges(client: KafkaClient, changes: BrokerChanges, replicas: number): Promise<void> {
  await Promise.all([applyTopics(client, changes, replicas), applyQuotas(client, changes), applyRules(client, changes)]);
  await applyPasswords(client, changes);
}

async function applyTopics(
  client: KafkaClient,
  { createTopics, addPartitions, setConfigs }: BrokerChanges,
  replicas: number,
): Promise<void> {
  if (createTopics.length > 0) {
    const topics = createTopics.map(({ name, partitions, configs }) => ({
      name,
      numPartitions: partitions,
      replicationFactor: replicas,
      assignments: [],
      configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
    }));
    await tolerating(['TOPIC_ALREADY_EXISTS'], () => client.ask(createTopicsV7.api, topics, TIMEOUT_MS, false));
  }
  if (addPartitions.length > 0) {
    await tolerating(['INVALID_PARTITIONS'], () => client.ask(createPartitionsV3.api, addPartitions, TIMEOUT_MS, false));
  }
  if (setConfigs.length > 0) {
    const resources = setConfigs.map(
      ({ name, configs }) =>
        ({
          resourceType: TOPIC_CONFIG,
          resourceName: name,
          configs: Object.entries(configs).map(([key, value]) => ({ name: key, configOperation: SET, value }) as const),
        }) as const,
    );
    await tolerating([], () => client.ask(incrementalAlterConfigsV1.api, resources, false));
  }
}

async function applyQuotas(client: KafkaClient, { setQuotas }: BrokerChanges): Promise<void> {
  if (setQuotas.length === 0) return;
  const entries = setQuotas.map(({ user, quotas }) => ({
    entities: [{ entityType: 'user' as const, entityName: user }],
    ops: Object.entries(quotas).map(([name, value]) => {
      const key = name as ClientQuotaKeyValue;
      return value === undefined ? ({ key, remove: true } as const) : ({ key, value, remove: false } as const);
    }),
  }));
  await tolerating([], () => client.ask(alterClientQuotasV1.api, entries, false));
}

async function applyRules(client: KafkaClient, { createRules, deleteRules }: BrokerChanges): Promise<void> {
  if (deleteRules.length > 0) await tolerating([], () => client.ask(deleteAclsV3.api, deleteRules as Acl[]));
  if (createRules.length > 0) await tolerating([], () => client.ask(createAclsV3.api, createRules as Acl[]));
}

async function applyPasswords(client: KafkaClient, { setPasswords, removePasswords }: BrokerChanges): Promise<void> {
  if (setPasswords.length + removePasswords.length === 0) return;
  const deletions = removePasswords.map((name) => ({ name, mechanism: SCRAM_SHA_512 }));
  const upsertions = await Promise.all(
    setPasswords.map(async ({ user, password }) => ({ name: user, mechanism: SCRAM_SHA_512, ...(await saltedPassword(password)) })),
  );
  await tolerating(['RESOURCE_NOT_FOUND'], () => client.ask(alterUserScramCredentialsV0.api, deletions, upsertions));
}
