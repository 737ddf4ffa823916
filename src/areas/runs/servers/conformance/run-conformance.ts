import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS, type Check } from './checks.ts';
import { codeName, connectPeer } from './peer.ts';
import type { Programs } from './programs.ts';

export interface ConformanceOptions {
  /** Of the Runtime Server. */
  address: string;
  programs: Programs;
  /** A folder that the server sees at the same path. */
  workDir: string;
  /** For servers that want one. */
  key?: string;
  /** Told each result as it comes. */
  tell?(result: CheckResult): void;
}

export interface CheckResult {
  check: Check;
  /** Undefined: it is as it should be. */
  problem?: string;
  ms: number;
}

/** Asks a Runtime Server everything, one check after the other. @throws Error when there is none */
export async function runConformance({ address, programs, workDir, key, tell }: ConformanceOptions): Promise<CheckResult[]> {
  const peer = connectPeer(address, key);
  if ((await peer.codeOf('health', {})) === 'UNAVAILABLE') {
    peer.close();
    throw new Error(`Cannot reach a Runtime Server at "${address}": nothing answers; start it, and give host:port`);
  }
  const folders: string[] = [];
  const next = () => {
    const workingDir = mkdtempSync(join(workDir, 'conformance-'));
    // The server may be somebody else.
    chmodSync(workingDir, 0o777);
    folders.push(workingDir);
    return { id: workingDir.slice(workDir.length).replace(/^\//, ''), workingDir };
  };
  mkdirSync(workDir, { recursive: true });
  const results: CheckResult[] = [];
  try {
    for (const check of CHECKS) {
      const began = performance.now();
      const problem = await check.run({ peer, programs, next }).then(
        () => undefined,
        (error: unknown) => describe(error),
      );
      const result = { check, problem, ms: performance.now() - began };
      results.push(result);
      tell?.(result);
    }
  } finally {
    peer.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
  return results;
}

function describe(error: unknown): string {
  const { details, message } = error as Error & { details?: string };
  return details === undefined ? message : `${codeName(error)}: ${details}`;
}

/** One line of the table. */
export function line({ check, problem, ms }: CheckResult): string {
  const mark = problem === undefined ? 'ok  ' : check.level === 'must' ? 'FAIL' : 'warn';
  const first = `${mark}  ${check.name.padEnd(58)} ${`${ms.toFixed(0)} ms`.padStart(8)}`;
  return problem === undefined ? first : `${first}\n      ${problem}\n      ${check.level}: ${check.hint}`;
}

export function summary(results: readonly CheckResult[]): string {
  const failed = results.filter(({ check, problem }) => problem !== undefined && check.level === 'must').length;
  const warned = results.filter(({ check, problem }) => problem !== undefined && check.level === 'should').length;
  const verdict = failed === 0 ? 'conforms' : 'does not conform';
  return `${results.length} checks: ${results.length - failed - warned} ok, ${failed} failed, ${warned} warnings. This Runtime Server ${verdict}.`;
}

export function conforms(results: readonly CheckResult[]): boolean {
  return results.every(({ check, problem }) => problem === undefined || check.level === 'should');
}
