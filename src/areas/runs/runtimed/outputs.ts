import { lstatSync } from 'node:fs';
import type { FailureReason } from '../../../api/kruntimes.io/v1alpha1/reasons.ts';
import { openInside } from './file-inside.ts';

const MOST_KEYS = 64;
const LONGEST_KEY = 128;
const LONGEST_VALUE = 8 << 10;
const MOST_BYTES = 64 << 10;

export type Outputs = { outputs?: Record<string, string> } | { reason: FailureReason; message: string };

/**
 * The outputs file of a Run: `KEY=VALUE` lines. Whatever the program made of it, no more than a bounded part is read.
 * @param root the folder of all Runs; `names` lead from there to the file
 */
export async function readOutputs(root: string, names: readonly string[]): Promise<Outputs> {
  let file;
  try {
    // Most Runs have none, which one look tells.
    if (lstatSync(`${root}/${names.join('/')}`, { throwIfNoEntry: false }) === undefined) return {};
    file = await openInside(root, names);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    return invalid(`the outputs file cannot be read (${code}); write plain KEY=VALUE lines to it`);
  }
  try {
    if (!(await file.stat()).isFile()) return invalid('the outputs file is not a regular file; write plain KEY=VALUE lines to it');
    const buffer = Buffer.alloc(MOST_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (bytesRead === 0 || length === buffer.length) break;
    }
    if (length > MOST_BYTES) return tooLarge(`the outputs file has more than ${MOST_BYTES} bytes`);
    return parseOutputs(buffer.subarray(0, length));
  } finally {
    await file.close();
  }
}

export function parseOutputs(bytes: Buffer): Outputs {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return invalid('the outputs file is not UTF-8 text');
  }
  const outputs = new Map<string, string>();
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const equals = line.indexOf('=');
    const key = line.slice(0, equals).trim();
    if (equals < 0 || key === '') return invalid(`line ${index + 1} of the outputs file is not KEY=VALUE`);
    const value = line.slice(equals + 1).trim();
    if (Buffer.byteLength(key) > LONGEST_KEY) return tooLarge(`the key on line ${index + 1} has more than ${LONGEST_KEY} bytes`);
    if (Buffer.byteLength(value) > LONGEST_VALUE) return tooLarge(`the value of "${key}" has more than ${LONGEST_VALUE} bytes`);
    outputs.set(key, value);
    if (outputs.size > MOST_KEYS) return tooLarge(`there are more than ${MOST_KEYS} outputs`);
  }
  return outputs.size === 0 ? {} : { outputs: Object.fromEntries(outputs) };
}

function invalid(message: string): Outputs {
  return { reason: 'OutputsInvalid', message };
}

function tooLarge(message: string): Outputs {
  return { reason: 'OutputsTooLarge', message };
}
