import type { Run, RunStatus } from '../../../api/kruntimes.io/v1alpha1/run.ts';
import { StringDecoder } from 'node:string_decoder';

/** Kept in the Run's status: enough for most, little enough for every watcher. */
const INLINE_BYTES = 8 << 10;
/** Kept in a ConfigMap of the Run when that was not enough. */
const KEPT_BYTES = 512 << 10;
/** A line longer than this is written in parts. */
const LONGEST_LINE = 64 << 10;

export type StreamName = 'stdout' | 'stderr';

/**
 * What a Run writes: line by line into runtimed's own output as it comes, for whoever follows; and the end of it kept, for whoever asks
 * when the Pod is gone.
 */
export class RunLog {
  readonly #print: (line: string) => void;
  readonly #fields: string;
  readonly #now: () => Date;
  readonly #partial: Record<StreamName, string> = { stdout: '', stderr: '' };
  /** Empty lines since the last one that was printed: they are told with the next. */
  readonly #blank: Record<StreamName, number> = { stdout: 0, stderr: 0 };
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  #kept: string[] = [];
  #keptLength = 0;
  #truncated = false;
  #printed = 0;

  constructor(run: Run, pod: string, now: () => Date, print: (line: string) => void) {
    this.#print = print;
    this.#now = now;
    const { uid, name, namespace } = run.metadata;
    const fields = { run_uid: uid, run_name: name, namespace, runtime: run.spec.runtime, pod };
    this.#fields = JSON.stringify(fields).slice(0, -1);
  }

  write(stream: StreamName, data: Uint8Array): void {
    const text = this.#decoders[stream].write(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    this.#keep(text);
    let rest = this.#partial[stream] + text;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      this.#line(stream, rest.slice(0, end), true);
      rest = rest.slice(end + 1);
    }
    while (rest.length > LONGEST_LINE) {
      this.#line(stream, rest.slice(0, LONGEST_LINE), false);
      rest = rest.slice(LONGEST_LINE);
    }
    this.#partial[stream] = rest;
  }

  /** Nothing more will come of this attempt. */
  flush(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.#partial[stream] + this.#decoders[stream].end();
      this.#partial[stream] = '';
      this.#line(stream, rest, false);
    }
  }

  /** What goes into the status; `overflow` is what must be kept elsewhere first. */
  summary(): { log?: RunStatus['log']; overflow?: string } {
    const text = this.#kept.join('');
    if (text === '') return {};
    const bytes = Buffer.from(text);
    const lines = this.#printed;
    if (bytes.length <= INLINE_BYTES) return { log: { text, ...(this.#truncated ? { truncated: true } : {}), lines } };
    return { log: { text: tail(bytes, INLINE_BYTES), truncated: true, lines }, overflow: tail(bytes, KEPT_BYTES) };
  }

  #keep(text: string): void {
    this.#kept.push(text);
    this.#keptLength += text.length;
    while (this.#keptLength - this.#kept[0].length > KEPT_BYTES) {
      this.#keptLength -= this.#kept.shift()!.length;
      this.#truncated = true;
    }
  }

  /** Those who read the log expect no empty messages, and a line for each. What that leaves out is told besides. */
  #line(stream: StreamName, message: string, isWhole: boolean): void {
    if (message === '') {
      if (isWhole) this.#blank[stream]++;
      return;
    }
    const blank = this.#blank[stream] > 0 ? `,"blank":${this.#blank[stream]}` : '';
    const partial = isWhole ? '' : ',"partial":true';
    this.#blank[stream] = 0;
    this.#printed++;
    const time = this.#now().toISOString();
    this.#print(`${this.#fields},"stream":"${stream}","message":${JSON.stringify(message)},"time":"${time}"${blank}${partial}}\n`);
  }
}

/** The last bytes, without half a character at the front. */
function tail(bytes: Buffer, length: number): string {
  let start = Math.max(0, bytes.length - length);
  while (start < bytes.length && start > 0 && (bytes[start] & 0xc0) === 0x80) start++;
  return bytes.toString('utf8', start);
}
