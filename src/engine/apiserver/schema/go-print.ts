import { marshal } from '../../../kube/go-text.ts';

/** Longer values are cut: nobody reads them in a message, and a hostile object could have them printed many times. */
const LONGEST_TEXT = 16_384;
const CUT = '...';

export function cut(text: string, most = LONGEST_TEXT): string {
  return text.length > most ? text.slice(0, most) + CUT : text;
}

/** encoding/json of a decoded JSON value: keys of maps are sorted. `sortKeys` is off for values that stand for Go structs. */
export function goJson(value: unknown, sortKeys = true): string {
  return print(value, sortKeys, { left: Infinity });
}

/** The same, cut when it gets too long. */
export function goJsonCut(value: unknown, sortKeys = true): string {
  return cut(print(value, sortKeys, { left: LONGEST_TEXT }));
}

function print(value: unknown, sortKeys: boolean, room: { left: number }): string {
  if (room.left < 0) return CUT;
  if (typeof value !== 'object' || value === null) {
    const text = marshal(typeof value === 'string' && value.length > room.left ? cut(value, room.left) : (value ?? null));
    room.left -= text.length;
    return text;
  }
  room.left -= 2;
  if (Array.isArray(value)) return `[${printAll(value, room, (item) => print(item, sortKeys, room))}]`;
  const record = value as Record<string, unknown>;
  const keys = Object.keys(record).filter((key) => record[key] !== undefined);
  if (sortKeys) keys.sort();
  return `{${printAll(keys, room, (key) => `${print(key, sortKeys, room)}:${print(record[key], sortKeys, room)}`)}}`;
}

function printAll<T>(items: readonly T[], room: { left: number }, printItem: (item: T) => string): string {
  const texts: string[] = [];
  for (const item of items) {
    if (room.left < 0) break;
    texts.push(printItem(item));
    room.left--;
  }
  return texts.join(',');
}
