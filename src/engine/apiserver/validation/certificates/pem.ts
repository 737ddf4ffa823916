/** The PEM blocks of a text, as Go's encoding/pem finds them. */
export interface PemBlock {
  type: string;
  headers: boolean;
  bytes: Buffer;
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';
const HEADERS = /^(?:[^\n:]+:[^\n]*\r?\n)+\r?\n?/;

/** One pass: the next end is looked for once, however many beginnings stand before it. */
export function pemBlocks(text: string): PemBlock[] {
  const found: PemBlock[] = [];
  let end = text.indexOf(END);
  for (let begin = text.indexOf(BEGIN); begin >= 0 && end >= 0;) {
    const lineEnd = text.indexOf('\n', begin);
    if (lineEnd < 0) break;
    const type = typeOf(text.slice(begin + BEGIN.length, lineEnd));
    if (end < lineEnd) end = text.indexOf(END, lineEnd);
    const closes = type !== undefined && end >= 0 && text.startsWith(type + DASHES, end + END.length);
    const block = closes ? parseBody(type, text.slice(lineEnd + 1, end)) : undefined;
    if (block !== undefined) found.push(block);
    begin = text.indexOf(BEGIN, block === undefined ? lineEnd : end);
  }
  return found;
}

function typeOf(line: string): string | undefined {
  const trimmed = line.trimEnd();
  return trimmed.endsWith(DASHES) ? trimmed.slice(0, -DASHES.length) : undefined;
}

function parseBody(type: string, body: string): PemBlock | undefined {
  const headers = HEADERS.exec(body);
  const base64 = (headers === null ? body : body.slice(headers[0].length)).replace(/\s+/g, '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  return { type, headers: headers !== null, bytes: Buffer.from(base64, 'base64') };
}
