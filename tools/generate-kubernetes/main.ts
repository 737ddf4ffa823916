import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { MODULE_FOLDER } from '../../test/cluster/binaries.ts';
import { startControlPlane } from '../../test/cluster/control-plane.ts';
import { encodeSwagger } from '../../src/engine/apiserver/openapi/protobuf-document.ts';
import { parseApiVersion, type KubeObject } from '../../src/kube/object.ts';
import { recordBootstrap } from './bootstrap.ts';
import { recordDefaults } from './defaults.ts';
import { schemasOf, structTable } from './definitions.ts';
import { recordFieldSelectors } from './field-selectors.ts';
import { readGoTypes } from './go-structs.ts';
import { readOpenApi } from './openapi.ts';
import { protobufTable } from './protobuf.ts';
import { readResources, type ColumnRecord, type ResourceRecord } from './resources.ts';
import { connect, type Server } from './server.ts';
import { typescriptFiles } from './typescript.ts';

const OUTPUT = 'src/engine/apiserver/builtin/generated';
const TYPES_OUTPUT = 'src/kube/generated';

/** Starts a real kube-apiserver, asks it for everything that is recorded, and writes the files. */
export async function generate(_args: string[]): Promise<void> {
  const controlPlane = await startControlPlane();
  const server = connect(controlPlane.url, controlPlane.ca, controlPlane.adminToken);
  try {
    await record(server);
  } finally {
    server.close();
    await controlPlane.stop();
  }
}

async function record(server: Server): Promise<void> {
  mkdirSync(OUTPUT, { recursive: true });
  const go = readGoTypes(MODULE_FOLDER);
  const openapi = await readOpenApi(server);
  const resources = await readResources(server, openapi.v2);
  await recordFieldSelectors(server, resources);
  const schemas = schemasOf(openapi.v2, go);
  write('schemas.json', schemas);
  const structs = structTable(rootsOf(openapi.v2), go);
  write('structs.json', structs);
  write('protobuf.json', protobufTable(rootsOf(openapi.v2), go));
  // Columns are most of the text about resources, and needed only to print tables.
  write(
    'resources.json',
    resources.map(({ columns: _columns, ...resource }) => resource),
  );
  write('columns.json', columnsByResource(resources));
  write('defaults.json', await recordDefaults(server, structs, (object) => definitionOf(resources, object)));
  writeOpenApi(openapi);
  write('bootstrap.json', await recordBootstrap(server));
  writeTypeScript(typescriptFiles(schemas, resources));
}

function writeTypeScript(files: Record<string, string>): void {
  rmSync(TYPES_OUTPUT, { recursive: true, force: true });
  mkdirSync(TYPES_OUTPUT, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(TYPES_OUTPUT, name), text);
}

function columnsByResource(resources: ResourceRecord[]): Record<string, ColumnRecord[]> {
  const listable = resources.filter((resource) => resource.columns.length > 0);
  return Object.fromEntries(listable.map((resource) => [`${resource.group}/${resource.version}/${resource.resource}`, resource.columns]));
}

function definitionOf(resources: ResourceRecord[], object: KubeObject): string {
  const { group, version } = parseApiVersion(object.apiVersion);
  const found = resources.find((record) => record.group === group && record.version === version && record.kind === object.kind);
  if (!found)
    throw new Error(`Cannot find the resource of "${object.apiVersion} ${object.kind}": the server does not serve it; correct the sample`);
  return found.definition;
}

/** Every definition that is a kind of its own: bodies of requests, subresources and options included. */
function rootsOf(v2: { definitions: Record<string, Record<string, unknown>> }): string[] {
  return Object.keys(v2.definitions).filter((name) => 'x-kubernetes-group-version-kind' in v2.definitions[name]);
}

function writeOpenApi(openapi: { v2: unknown; v3: Record<string, unknown> }): void {
  const folder = join(OUTPUT, 'openapi');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'v3'), { recursive: true });
  writeFileSync(join(folder, 'v2.json.gz'), compressed(openapi.v2));
  writeFileSync(join(folder, 'v2.pb.gz'), gzipSync(encodeSwagger(openapi.v2), { level: 9 }));
  for (const [path, document] of Object.entries(openapi.v3)) {
    writeFileSync(join(folder, 'v3', `${path.replaceAll('/', '_')}.json.gz`), compressed(document));
  }
}

/** Without a time stamp and with the same level everywhere, so that the same facts give the same bytes. */
function compressed(document: unknown): Buffer {
  return gzipSync(JSON.stringify(document), { level: 9 });
}

function write(file: string, value: unknown): void {
  writeFileSync(join(OUTPUT, file), `${JSON.stringify(value)}\n`);
}
