/** Names as text: labels joined by dots, without the last dot; a dot or a backslash inside a label has a backslash before it. '' is the root. */
export const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
const POINTER = 0xc0;

/** A message that is not one. */
export class DnsFormatError extends Error {}

/** @returns the name and where the message goes on after it. Pointers lead only backwards, so that none can go in a circle. */
export function readName(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  let end: number | undefined;
  let limit = start;
  let length = 1;
  for (;;) {
    if (at >= message.length) throw new DnsFormatError('a name goes past the end');
    const size = message[at];
    if (size === 0) return { name: labels.join('.'), end: end ?? at + 1 };
    if ((size & POINTER) === POINTER) {
      if (at + 1 >= message.length) throw new DnsFormatError('a name goes past the end');
      const target = ((size & 0x3f) << 8) | message[at + 1];
      if (target >= limit) throw new DnsFormatError('a name points forward');
      end ??= at + 2;
      limit = target;
      at = target;
      continue;
    }
    if ((size & POINTER) !== 0) throw new DnsFormatError('a label of an unknown kind');
    length += size + 1;
    if (length > MAX_NAME_BYTES || at + 1 + size > message.length) throw new DnsFormatError('a name is too long');
    labels.push(escapeLabel(message.toString('latin1', at + 1, at + 1 + size)));
    at += size + 1;
  }
}

function escapeLabel(label: string): string {
  return /[.\\]/.test(label) ? label.replaceAll(/[.\\]/g, (character) => `\\${character}`) : label;
}

export function labelsOf(name: string): string[] {
  if (name === '') return [];
  if (!name.includes('\\')) return name.split('.');
  const labels: string[] = [''];
  for (let i = 0; i < name.length; i++) {
    if (name[i] === '\\') labels[labels.length - 1] += name[++i] ?? '';
    else if (name[i] === '.') labels.push('');
    else labels[labels.length - 1] += name[i];
  }
  return labels;
}

/** The name on the wire, each label once: what was written before is pointed at. */
export class NameWriter {
  #known = new Map<string, number>();

  write(name: string, at: number): Buffer {
    const labels = labelsOf(name);
    const parts: Buffer[] = [];
    let offset = at;
    let length = 1;
    for (let i = 0; i < labels.length; i++) {
      const rest = labels.slice(i).map(escapeLabel).join('.').toLowerCase();
      const known = this.#known.get(rest);
      if (known !== undefined) {
        parts.push(Buffer.from([POINTER | (known >> 8), known & 0xff]));
        return Buffer.concat(parts);
      }
      if (offset < 0x4000) this.#known.set(rest, offset);
      const bytes = Buffer.from(labels[i], 'latin1');
      length += bytes.length + 1;
      if (bytes.length === 0 || bytes.length > MAX_LABEL_BYTES || length > MAX_NAME_BYTES) {
        throw new DnsFormatError(`Cannot write the name "${name}": a label is empty or too long`);
      }
      parts.push(Buffer.from([bytes.length]), bytes);
      offset += bytes.length + 1;
    }
    parts.push(Buffer.from([0]));
    return Buffer.concat(parts);
  }
}
