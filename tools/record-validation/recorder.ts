import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { startControlPlane } from '../../test/cluster/control-plane.ts';
import type { Json, KubeObject } from '../../src/kube/object.ts';
import { applyChange } from '../../src/engine/apiserver/validation/recorded/apply-change.ts';
import type { Base, Case, CaseSet } from './case.ts';
import { caseSets } from './cases/index.ts';

const FOLDER = 'src/engine/apiserver/validation/recorded';
/** Admission that would answer before validation does, or change objects under our hands. */
const WITHOUT = [
  'ServiceAccount',
  'Priority',
  'RuntimeClass',
  'DefaultTolerationSeconds',
  'TaintNodesByCondition',
  'PersistentVolumeClaimResize',
  'LimitRanger',
  'ResourceQuota',
  'DefaultStorageClass',
  'DefaultIngressClass',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
];

interface Server {
  url: string;
  token: string;
  agent: Agent;
}

interface Answer {
  status: number;
  body: Json;
  warnings: string[];
}

export async function main(names: string[]): Promise<void> {
  const plane = process.env['SERVER']
    ? undefined
    : await startControlPlane({ flags: [`--disable-admission-plugins=${WITHOUT.join(',')}`, '--allow-privileged=true'] });
  const url = plane?.url ?? process.env['SERVER']!;
  const token = plane?.adminToken ?? process.env['TOKEN']!;
  const server = { url, token, agent: new Agent({ keepAlive: true, rejectUnauthorized: false }) };
  try {
    for (const [name, set] of Object.entries(caseSets)) {
      if (names.length > 0 && !names.includes(name)) continue;
      const recorded = await recordSet(server, set);
      writeFileSync(`${FOLDER}/${name}.json`, stable(recorded));
      console.log(`${name}: ${recorded.cases.length} cases`);
    }
    spawnSync('node_modules/.bin/oxfmt', ['--config', '.oxfmtrc.json', FOLDER], { stdio: 'inherit' });
  } finally {
    server.agent.destroy();
    await plane?.stop();
  }
}

/** What differs from one recording to the next says nothing; names of bases stand in for uids. */
function stable(recorded: { bases: Record<string, KubeObject>; cases: Json[] }): string {
  let text = JSON.stringify(recorded);
  Object.values(recorded.bases).forEach(({ metadata }, i) => {
    if (metadata.uid === undefined) return;
    text = text.replaceAll(metadata.uid, `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`);
    text = text.replaceAll(`"resourceVersion":"${metadata.resourceVersion}"`, '"resourceVersion":"1"');
    text = text.replaceAll(metadata.creationTimestamp!, '2024-01-01T00:00:00Z');
  });
  return text;
}

async function call(server: Server, method: string, path: string, body?: Json): Promise<Answer> {
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', 'user-agent': 'record-validation' };
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method, headers, agent: server.agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const header = response.headers['warning'] ?? '';
        const warnings = [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((m): string => JSON.parse(`"${m[1]}"`));
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()), warnings });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function recordSet(server: Server, set: CaseSet): Promise<{ bases: Record<string, KubeObject>; cases: Json[] }> {
  const bases: Record<string, KubeObject> = {};
  for (const [name, base] of Object.entries(set.bases)) bases[name] = await makeBase(server, name, base);
  const cases: Json[] = [];
  for (const one of typeof set.cases === 'function' ? set.cases(bases) : set.cases) {
    try {
      cases.push(await recordCase(server, set.bases[one.base], bases[one.base], one));
    } catch (error) {
      if (set.skipOthers) continue;
      throw new Error(`Cannot record case "${one.name}" of ${one.base}: ${(error as Error).message}`, { cause: error });
    }
  }
  for (const { collection, object, volatile } of Object.values(set.bases)) {
    if (!volatile) await remove(server, `${collection}/${object.metadata.name}`);
  }
  return { bases, cases };
}

async function makeBase(server: Server, name: string, base: Base): Promise<KubeObject> {
  if (base.volatile) return JSON.parse(JSON.stringify(base.object)) as KubeObject;
  const path = `${base.collection}/${base.object.metadata.name}`;
  await remove(server, path);
  const made = await call(server, 'POST', base.collection, base.object);
  if (made.status !== 201) throw new Error(`Cannot create base "${name}": ${made.body.message}`);
  let { body } = made;
  if (base.status !== undefined) {
    const withStatus = await call(server, 'PUT', `${path}/status`, { ...body, status: { ...body.status, ...base.status } });
    if (withStatus.status !== 200) throw new Error(`Cannot set the status of base "${name}": ${withStatus.body.message}`);
    body = withStatus.body;
  }
  delete body.metadata.managedFields;
  return withoutNulls(body);
}

/** From an earlier recording on the same server, where nobody else takes finalizers off. */
async function remove(server: Server, path: string): Promise<void> {
  await call(server, 'DELETE', `${path}?gracePeriodSeconds=0`);
  const left = await call(server, 'GET', path);
  if (left.status !== 200) return;
  await call(server, 'PUT', path, { ...left.body, metadata: { ...left.body.metadata, finalizers: [] } });
  if (left.body.kind === 'Namespace') await call(server, 'PUT', `${path}/finalize`, { ...left.body, spec: { finalizers: [] } });
}

/** As decoding leaves an object. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries<Json>(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]));
}

const METADATA_OF_SERVER = ['uid', 'resourceVersion', 'creationTimestamp', 'generation'];

async function recordCase(server: Server, base: Base, stored: KubeObject, one: Case): Promise<Json> {
  const isUpdate = one.operation === 'update';
  const answer = isUpdate ? await update(server, base, stored, one) : await create(server, base, stored, one);
  const { status, body } = answer;
  if (status !== 422 && status !== 200 && status !== 201 && status !== 409) {
    throw new Error(`it is answered with ${status}: ${body.message}`);
  }
  const causes = (body.details?.causes ?? []).map((c: Json) => [c.reason, c.field ?? '', c.message]);
  const kept: Json = { name: one.name, base: one.base };
  if (isUpdate) kept.operation = 'update';
  if (one.subresource) kept.subresource = one.subresource;
  if (one.oldChange) kept.oldChange = one.oldChange;
  const change = isUpdate ? one.change : { ...base.forCreate, ...one.change };
  kept.change = change;
  if (one.unordered) kept.unordered = true;
  kept.causes = status === 422 ? causes : [];
  // That a whole version is deprecated is said by whoever serves it.
  const warnings = answer.warnings.filter((text) => !/^[\w./]+ \w+ is deprecated in v/.test(text));
  if (warnings.length > 0) kept.warnings = warnings;
  return kept;
}

async function create(server: Server, base: Base, stored: KubeObject, one: Case): Promise<Answer> {
  const sent = applyChange(stored, { ...base.forCreate, ...one.change });
  for (const field of METADATA_OF_SERVER) delete (sent.metadata as Json)[field];
  const stripped = applyChange(sent, Object.fromEntries((base.madeByServer ?? []).map((pointer) => [pointer, null])));
  return call(server, 'POST', `${base.collection}?dryRun=All`, stripped);
}

async function update(server: Server, base: Base, stored: KubeObject, one: Case): Promise<Answer> {
  const path = `${base.collection}/${stored.metadata.name}`;
  let old = stored;
  if (one.oldChange) {
    const changed = await call(server, 'PUT', path, applyChange(unversioned(stored), one.oldChange));
    if (changed.status !== 200) throw new Error(`the change of the stored object is refused: ${changed.body.message}`);
    old = changed.body;
  }
  const sent = applyChange(old, one.change);
  sent.metadata.resourceVersion = (await call(server, 'GET', path)).body.metadata.resourceVersion;
  const answer = await call(server, 'PUT', `${path}${one.subresource ? `/${one.subresource}` : ''}?dryRun=All`, sent);
  if (one.oldChange) await call(server, 'PUT', path, unversioned(stored));
  return answer;
}

function unversioned(object: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
