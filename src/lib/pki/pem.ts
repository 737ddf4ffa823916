export interface PemBlock {
  label: string;
  der: Buffer;
  /** Offsets of the block in the text, for callers that care what stands around it. */
  start: number;
  end: number;
  hasHeaders: boolean;
}

const BEGIN = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n/g;
const END = /-----END ([A-Z0-9 ]+)-----\r?\n?/g;

const CERTIFICATE_BEGIN = '-----BEGIN CERTIFICATE-----';
const CERTIFICATE_END = '-----END CERTIFICATE-----';

/** The certificates of a text as they stand in it, good or not; in time that grows with the text and no faster. */
export function certificateBlocks(text: string): string[] {
  const blocks: string[] = [];
  for (let start = text.indexOf(CERTIFICATE_BEGIN); start >= 0; start = text.indexOf(CERTIFICATE_BEGIN, start)) {
    const end = text.indexOf(CERTIFICATE_END, start + CERTIFICATE_BEGIN.length + 1);
    if (end < 0) break;
    const block = text.slice(start, end + CERTIFICATE_END.length);
    blocks.push(block);
    start += block.length;
  }
  return blocks;
}

/** In time that grows with the text and no faster: some of it was written by tenants, to be read by all. */
export function parsePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  const ends = endsByLabel(text);
  let from = 0;
  for (const begin of text.matchAll(BEGIN)) {
    if (begin.index < from) continue;
    const label = begin[1];
    const bodyStart = begin.index + begin[0].length;
    const candidates = ends.get(label) ?? [];
    while (candidates.length > 0 && candidates.at(-1)!.index < bodyStart) candidates.pop();
    const end = candidates.at(-1);
    if (end === undefined) continue;
    from = end.index + end[0].length;
    const body = text.slice(bodyStart, end.index);
    const lines = body.split(/\r?\n/);
    const headers = lines.filter((line) => line.includes(':'));
    const base64 = lines
      .filter((line) => !line.includes(':'))
      .join('')
      .trim();
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) continue;
    blocks.push({
      label,
      der: Buffer.from(base64, 'base64'),
      start: begin.index,
      end: from,
      hasHeaders: headers.length > 0,
    });
  }
  return blocks;
}

/** The first one last. */
function endsByLabel(text: string): Map<string, RegExpExecArray[]> {
  const ends = new Map<string, RegExpExecArray[]>();
  for (const end of [...text.matchAll(END)].reverse()) {
    const same = ends.get(end[1]);
    if (same === undefined) ends.set(end[1], [end]);
    else same.push(end);
  }
  return ends;
}

export function toPem(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
