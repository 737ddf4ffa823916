/** The PEM blocks of a text, as Go's encoding/pem finds them. */
export interface PemBlock {
  type: string;
  headers: boolean;
  bytes: Buffer;
}

const BLOCK = /-----BEGIN ([^\n\r-]*(?:-(?!----)[^\n\r-]*)*)-----[ \t]*\r?\n([\s\S]*?)-----END \1-----/g;
const HEADERS = /^(?:[^\n:]+:[^\n]*\r?\n)+\r?\n?/;

export function pemBlocks(text: string): PemBlock[] {
  const found: PemBlock[] = [];
  for (const [, type, body] of text.matchAll(BLOCK)) {
    const headers = HEADERS.exec(body);
    const base64 = (headers === null ? body : body.slice(headers[0].length)).replace(/\s+/g, '');
    if (/^[A-Za-z0-9+/]*={0,2}$/.test(base64) && base64.length % 4 === 0) {
      found.push({ type, headers: headers !== null, bytes: Buffer.from(base64, 'base64') });
    }
  }
  return found;
}
