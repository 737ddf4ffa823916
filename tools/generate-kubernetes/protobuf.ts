import type { GoTypes } from './go-structs.ts';

/** Field number, JSON name ('' for an embedded struct) and type of every field that travels as protobuf. */
export type ProtobufTable = Record<string, [number: number, json: string, type: string][]>;

/** What must be known to read a protobuf body: the fields of all messages reachable from `roots`. */
export function protobufTable(roots: string[], go: GoTypes): ProtobufTable {
  const table: ProtobufTable = {};
  const queue = [...roots];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const fields = go.nested.get(name);
    if (fields === undefined || name in table) continue;
    table[name] = [];
    for (const field of fields) {
      if (field.number === undefined) continue;
      const type = 'embeds' in field ? field.embeds : field.type;
      table[name].push([field.number, 'embeds' in field ? '' : field.json, resolveNamed(type, go)]);
      queue.push(elementOf(type, go));
    }
  }
  return Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Lists with a name of their own are messages with one repeated field; other named types are what they stand for. */
const LIST_MESSAGES = /\.(ExtraValue|Verbs)$/;

function resolveNamed(type: string, go: GoTypes): string {
  const wrapper = /^(?:\*|\[\]|map\[[^\]]+\])/.exec(type)?.[0];
  if (wrapper !== undefined) {
    const open = wrapper.startsWith('map[') ? 'map[string]' : wrapper;
    return open + resolveNamed(type.slice(wrapper.length), go);
  }
  if (LIST_MESSAGES.test(type)) return 'strings';
  const meaning = go.named.get(type);
  return meaning === undefined || go.nested.has(type) ? type : resolveNamed(meaning, go);
}

function elementOf(type: string, go: GoTypes): string {
  const resolved = resolveNamed(type, go);
  return resolved.replace(/^(?:\*|\[\]|map\[string\])+/, '');
}
