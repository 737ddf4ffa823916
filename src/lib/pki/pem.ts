export interface PemBlock {
  label: string;
  der: Buffer;
  /** Offsets of the block in the text, for callers that care what stands around it. */
  start: number;
  end: number;
  hasHeaders: boolean;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([\s\S]*?)-----END \1-----\r?\n?/g;

export function parsePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  for (const match of text.matchAll(BLOCK)) {
    const body = match[2];
    const lines = body.split(/\r?\n/);
    const headers = lines.filter((line) => line.includes(':'));
    const base64 = lines
      .filter((line) => !line.includes(':'))
      .join('')
      .trim();
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) continue;
    blocks.push({
      label: match[1],
      der: Buffer.from(base64, 'base64'),
      start: match.index,
      end: match.index + match[0].length,
      hasHeaders: headers.length > 0,
    });
  }
  return blocks;
}

export function toPem(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
