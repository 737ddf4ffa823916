import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runtimeAccessPolicy } from '../areas/runs/access/runtime-access.ts';
import { CLUSTER_RULES, CLUSTER_WEBHOOKS } from '../areas/clusters/admission/cluster-rules.ts';
import { clustersRights } from '../areas/clusters/clusters-rights.ts';
import { defaultClusterPolicy } from '../areas/clusters/policy/default-policy.ts';
import { PLUGIN_RULES, PLUGIN_WEBHOOKS } from '../areas/plugins/admission/plugin-rules.ts';
import { pluginsRights } from '../areas/plugins/plugins-rights.ts';
import { builtInRuntimes } from '../areas/runs/built-in-runtimes.ts';
import { runsRights } from '../areas/runs/runs-rights.ts';
import { KIND_RULES } from '../areas/tenancy/admission/kind-rules.ts';
import { tenancyRights } from '../areas/tenancy/tenancy-rights.ts';
import { ClusterPolicyKind } from '../api/tenantry.dev/v1alpha1/cluster-policy.ts';
import { TenantClusterKind } from '../api/tenantry.dev/v1alpha1/tenant-cluster.ts';
import { VpcKind } from '../api/tenantry.dev/v1alpha1/vpc.ts';
import { RuntimeKind } from '../api/kruntimes.io/v1alpha1/runtime.ts';
import type { Client } from '../client/client.ts';
import { ensureMarkedObjects, ensureObjects, withResources } from '../engine/apiserver/bootstrap/system-objects.ts';
import { setDefinitionDefaults, type CustomResourceDefinition as CustomDefinition } from '../engine/apiserver/crd/definition.ts';
import { statusOnceEstablished } from '../engine/apiserver/crd/naming.ts';
import { DEFINITIONS } from '../engine/apiserver/registry/custom-definitions.ts';
import type { ServerFoundation } from '../engine/apiserver/server.ts';
import {
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Namespace,
  Role,
  RoleBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from '../client/kinds.ts';
import { isConditionTrue } from '../kube/conditions.ts';
import type { Kind } from '../kube/kind.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError } from '../kube/status.ts';
import { timeoutSignal } from '../lib/abort.ts';
import { webhookConfigurations } from '../runtime/admission/webhook-rules.ts';

/** What made a definition, so that a start with the same ones writes nothing. */
const HASH_ANNOTATION = 'tenantry.dev/definition-hash';
const ESTABLISHED_MS = 20_000;

/** The definitions that the build made of src/api. */
export function builtDefinitions(): KubeObject[] {
  const here = dirname(fileURLToPath(import.meta.url));
  const folder = [join(here, 'crds'), join(here, '../crds')].find(existsSync) ?? resolve(here, '../../dist/crds');
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as KubeObject);
}

/** Of the embedded engine alone: on a Kubernetes nobody would act on them. */
const EMBEDDED_ONLY: readonly string[] = [TenantClusterKind.kind, ClusterPolicyKind.kind, VpcKind.kind];

/** The definitions of some groups, for a Kubernetes. */
export function definitionsForKubernetes(groups: readonly string[]): KubeObject[] {
  return builtDefinitions().filter(({ spec }) => groups.includes(spec?.group) && !EMBEDDED_ONLY.includes(spec?.names.kind));
}

const KINDS: Record<string, Kind> = {
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Namespace,
  Role,
  RoleBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
};

/** The rights and the rules that come with the areas. */
function rightsAndRules(): KubeObject[] {
  const rights = [...runsRights(), ...runtimeAccessPolicy(), ...tenancyRights(), ...pluginsRights(), ...clustersRights()];
  return [
    ...rights,
    ...webhookConfigurations(PLUGIN_WEBHOOKS, PLUGIN_RULES),
    ...webhookConfigurations(CLUSTER_WEBHOOKS, CLUSTER_RULES),
    ...webhookConfigurations('tenantry-kinds', KIND_RULES),
  ];
}

/**
 * Makes the Kinds of the areas known to the embedded engine, with their rights and rules, and, the first time, the Runtimes and the ClusterPolicy that come with it.
 * The definitions are served when it is done. All of it is written straight to the store, in one commit: a start waits for it.
 */
export async function ensureAreas({ objects, core }: ServerFoundation, definitions: readonly KubeObject[]): Promise<void> {
  const existing = objects.list<CustomDefinition>(DEFINITIONS);
  const wanted = [...definitions.map((definition) => established(definition, existing, core.now())), ...rightsAndRules()].map(marked);
  const created = await ensureMarkedObjects(objects, withResources(core.catalog, wanted), HASH_ANNOTATION);
  const isNew = ({ plural, group }: Kind) => created.has(`${plural}.${group}`);
  const first = [...(isNew(RuntimeKind) ? builtInRuntimes() : []), ...(isNew(ClusterPolicyKind) ? [defaultClusterPolicy()] : [])];
  await ensureObjects(objects, withResources(core.catalog, first));
}

/** With the status that lets it be served at once. */
function established(given: KubeObject, others: readonly CustomDefinition[], now: Date): KubeObject {
  const definition = structuredClone(given) as CustomDefinition;
  setDefinitionDefaults(definition);
  return { ...given, status: statusOnceEstablished(definition, others, now) };
}

/** Writes those that are not there as they should be. Definitions are served when it is done. */
export async function installObjects(client: Client, objects: KubeObject[]): Promise<('created' | 'updated' | 'same')[]> {
  const all = (some: KubeObject[]) => Promise.all(some.map((object) => install(client, object)));
  const namespaces = await all(objects.filter(({ kind }) => kind === 'Namespace'));
  return [...namespaces, ...(await all(objects.filter(({ kind }) => kind !== 'Namespace')))];
}

/** One whose names another definition has is never established: in a tenant's cluster anybody's may be there. */
async function whenEstablished(client: Client, { metadata }: KubeObject): Promise<void> {
  const patience = timeoutSignal(client.clock, ESTABLISHED_MS);
  const { name, resourceVersion } = metadata;
  const selection = { fieldSelector: `metadata.name=${name}`, resourceVersion, signal: patience.signal };
  try {
    for await (const update of client.resource(CustomResourceDefinition).watch(selection)) {
      if ('object' in update && isConditionTrue(update.object.status?.conditions, 'Established')) return;
    }
  } finally {
    patience.dispose();
  }
  throw new Error(`Cannot make "${name}" known: the server does not establish it; look at the conditions of that definition`);
}

async function install(client: Client, definition: KubeObject): Promise<'created' | 'updated' | 'same'> {
  const resource = client.resource<KubeObject>(KINDS[definition.kind], definition.metadata.namespace);
  const name = definition.metadata.name!;
  const wanted = marked(definition);
  const hash = wanted.metadata.annotations?.[HASH_ANNOTATION];
  try {
    const existing = await resource.get(name);
    if (existing.metadata.annotations?.[HASH_ANNOTATION] === hash) return 'same';
    await resource.apply(wanted, { fieldManager: 'tenantry', force: true });
    return 'updated';
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
  let created: KubeObject;
  try {
    created = await resource.create(wanted);
  } catch (error) {
    // Another process installs the same.
    if (isStatusError(error, 'AlreadyExists')) return install(client, definition);
    throw error;
  }
  if (definition.kind !== 'CustomResourceDefinition' || isConditionTrue(created.status?.conditions, 'Established')) return 'created';
  await whenEstablished(client, created);
  return 'created';
}

/** With what was made of it, for the next start to compare. */
function marked({ status, ...object }: KubeObject): KubeObject {
  const hash = createHash('sha256').update(JSON.stringify(object)).digest('hex').slice(0, 16);
  const metadata = { ...object.metadata, annotations: { ...object.metadata.annotations, [HASH_ANNOTATION]: hash } };
  return { ...object, metadata, ...(status !== undefined && { status }) };
}
