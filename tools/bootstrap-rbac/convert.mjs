// Makes src/engine/apiserver/auth/generated/bootstrap-rbac.json from the YAML that Kubernetes keeps of its default RBAC policy:
//   node tools/bootstrap-rbac/convert.mjs <kubernetes source>/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

// Without the files of feature gates: those are off by default.
const FILES = [
  'cluster-roles',
  'controller-roles',
  'cluster-role-bindings',
  'controller-role-bindings',
  'namespace-roles',
  'namespace-role-bindings',
];
const OUTPUT = new URL('../../src/engine/apiserver/auth/generated/bootstrap-rbac.json', import.meta.url);

const directory = process.argv[2];
if (directory === undefined) {
  console.error('Cannot convert: no directory given; pass the testdata folder of bootstrappolicy');
  process.exit(2);
}

function asObject(item) {
  const object = { apiVersion: item.apiVersion, kind: item.kind, metadata: item.metadata };
  if (item.aggregationRule) object.aggregationRule = item.aggregationRule;
  if (item.rules) object.rules = item.rules;
  if (item.roleRef) object.roleRef = item.roleRef;
  if (item.subjects) object.subjects = item.subjects;
  delete object.metadata.creationTimestamp;
  return object;
}

const objects = [];
for (const file of FILES) {
  const { items } = parse(await readFile(join(directory, `${file}.yaml`), 'utf8'));
  objects.push(...items.map(asObject));
}
await writeFile(OUTPUT, `[\n${objects.map((object) => JSON.stringify(object)).join(',\n')}\n]\n`);
console.log(`${objects.length} objects`);
