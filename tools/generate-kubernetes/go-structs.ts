import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** One field of a Go struct as its JSON sees it. */
export interface GoField {
  json: string;
  /** A type expression whose named types are OpenAPI definition names: `[]io.k8s.api.core.v1.Container`, `*int32`, `map[string]string`. */
  type: string;
  /** When the field is left out: `never`, when it is Go's idea of `empty` (no struct is), or when it is `zero`. */
  omit: 'never' | 'empty' | 'zero';
  /** Its number on the protobuf wire. */
  number?: number;
}

export interface GoTypes {
  structs: Map<string, GoField[]>;
  /** The same with embedded structs left as they are: on the protobuf wire they are messages of their own. */
  nested: Map<string, (GoField | Embedded)[]>;
  /** Named types that are not structs, such as `v1.Protocol`, with what they stand for. */
  named: Map<string, string>;
}

export interface Embedded {
  embeds: string;
  number?: number;
}

const PACKAGES: [module: string, folders: RegExp, prefix: string][] = [
  ['k8s.io/api', /^[a-z]+\/v\d+$/, 'io.k8s.api'],
  ['k8s.io/apimachinery', /^pkg\/(apis\/meta\/v1|api\/resource|runtime|util\/intstr|types|version)$/, 'io.k8s.apimachinery'],
  ['k8s.io/apiextensions-apiserver', /^pkg\/apis\/apiextensions\/v1$/, 'io.k8s.apiextensions-apiserver'],
  ['k8s.io/kube-aggregator', /^pkg\/apis\/apiregistration\/v1$/, 'io.k8s.kube-aggregator'],
];

/** Reads json tags from the Go sources that the module in `moduleFolder` pins: which fields exist in which order, and which are emitted when empty. */
export function readGoTypes(moduleFolder: string): GoTypes {
  const structs = new Map<string, (GoField | Embedded)[]>();
  const named = new Map<string, string>();
  for (const [module, folders, prefix] of PACKAGES) {
    const root = execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd: moduleFolder, encoding: 'utf8' }).trim();
    for (const folder of subfolders(root).filter((path) => folders.test(path))) {
      readPackage(join(root, folder), `${prefix}.${folder.replaceAll('/', '.')}`, structs, named);
    }
  }
  return { structs: flatten(structs), nested: structs, named };
}

function subfolders(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function readPackage(folder: string, prefix: string, structs: Map<string, (GoField | Embedded)[]>, named: Map<string, string>): void {
  const files = readdirSync(folder).filter((name) => name.endsWith('.go') && !/_test\.go$|generated|^zz_|register\.go$/.test(name));
  for (const file of files) {
    const source = readFileSync(join(folder, file), 'utf8');
    const imports = importsOf(source);
    const qualify = (expression: string) => qualifyType(expression, prefix, imports);
    for (const match of source.matchAll(/^type (\w+) struct ?\{(?:\n([\s\S]*?)^)?\}/gm)) {
      structs.set(`${prefix}.${match[1]}`, fieldsOf(match[2] ?? '', qualify));
    }
    for (const match of source.matchAll(/^type (\w+) (?!struct\b|interface\b|func\b|=)([\w.[\]*]+)/gm)) {
      named.set(`${prefix}.${match[1]}`, qualify(match[2]));
    }
  }
}

function importsOf(source: string): Map<string, string> {
  const imports = new Map<string, string>();
  const block = /^import \(([\s\S]*?)^\)/m.exec(source)?.[1] ?? /^import (.*)$/m.exec(source)?.[1] ?? '';
  for (const match of block.matchAll(/(?:(\w+) )?"([^"]+)"/g)) imports.set(match[1] ?? match[2].split('/').at(-1)!, match[2]);
  return imports;
}

const BASIC = new Set(['string', 'bool', 'byte', 'int', 'int32', 'int64', 'float64', 'uint8', 'interface{}', 'any', 'error']);

function qualifyType(expression: string, prefix: string, imports: Map<string, string>): string {
  const wrapper = /^(\*|\[\]|map\[)/.exec(expression);
  if (wrapper?.[0] === 'map[') {
    const close = expression.indexOf(']');
    const key = qualifyType(expression.slice(4, close), prefix, imports);
    return `map[${key}]${qualifyType(expression.slice(close + 1), prefix, imports)}`;
  }
  if (wrapper) return wrapper[0] + qualifyType(expression.slice(wrapper[0].length), prefix, imports);
  if (BASIC.has(expression)) return expression;
  const [packageName, name] = expression.includes('.') ? expression.split('.') : [undefined, expression];
  if (packageName === undefined) return `${prefix}.${name}`;
  const path = imports.get(packageName) ?? packageName;
  return `${path.replace(/^k8s\.io\//, 'io.k8s.').replaceAll('/', '.')}.${name}`;
}

function fieldsOf(body: string, qualify: (expression: string) => string): (GoField | Embedded)[] {
  const fields: (GoField | Embedded)[] = [];
  for (const line of body.split('\n')) {
    const match = /^\t(?:(\w+)\s+)?([\w.[\]*{}]+)\s+`.*?json:"([^"]*)"/.exec(line);
    if (!match) continue;
    const [json, ...options] = match[3].split(',');
    const type = qualify(match[2]);
    if (json === '-') continue;
    const tag = /protobuf:"\w+,(\d+),/.exec(line)?.[1];
    const number = tag === undefined ? undefined : Number(tag);
    if (json === '' && match[1] === undefined) fields.push({ embeds: type, number });
    else
      fields.push({ json, type, omit: options.includes('omitzero') ? 'zero' : options.includes('omitempty') ? 'empty' : 'never', number });
  }
  return fields;
}

function flatten(structs: Map<string, (GoField | Embedded)[]>): Map<string, GoField[]> {
  const done = new Map<string, GoField[]>();
  const expand = (name: string): GoField[] =>
    (structs.get(name) ?? []).flatMap((field) => ('embeds' in field ? expand(field.embeds.replace(/^\*/, '')) : [field]));
  for (const name of structs.keys()) done.set(name, expand(name));
  return done;
}
