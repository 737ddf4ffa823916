import { basename } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Launch, LaunchedProcess, Launcher } from '../../../src/areas/runs/servers/launcher.ts';

/** Stands for the processes of all Pods, and counts them. A program is a text of words: `ms=20 exit=1`. */
export class CountedPrograms {
  /** How often the program of each Run was started, by uid. */
  readonly starts = new Map<string, number>();
  /** What each Run takes of its Pod. */
  readonly weights = new Map<string, number>();
  /** The most that ran on each Pod at a time. */
  readonly most = new Map<string, number>();
  readonly #running = new Map<string, number>();

  launcher(pod: string): Launcher {
    const all = new Set<() => void>();
    return {
      launch: (launch) => {
        const launched = this.#launch(pod, launch);
        all.add(launched.kill);
        return launched.process;
      },
      close: () => {
        for (const kill of all) kill();
      },
    };
  }

  #launch(pod: string, { workingDir, program }: Launch): { process: LaunchedProcess; kill(): void } {
    const uid = basename(workingDir);
    const weight = this.weights.get(uid) ?? 1;
    const words = new Map('code' in program ? program.code.split(' ').map((word) => word.split('=') as [string, string]) : []);
    this.starts.set(uid, (this.starts.get(uid) ?? 0) + 1);
    this.#count(pod, weight);
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    stdout.write('up\n');
    let end!: (result: { exitCode: number; signal?: NodeJS.Signals }) => void;
    let isOver = false;
    const ended = new Promise<{ exitCode: number; signal?: NodeJS.Signals }>((resolve) => (end = resolve));
    const finish = (result: { exitCode: number; signal?: NodeJS.Signals }) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#count(pod, -weight);
      stdout.end();
      stderr.end();
      end(result);
    };
    const timer = setTimeout(() => finish({ exitCode: Number(words.get('exit') ?? 0) }), Number(words.get('ms') ?? 1));
    const process = { warm: true, stdout, stderr, ended, signal: (signal: NodeJS.Signals) => finish({ exitCode: -1, signal }) };
    return { process, kill: () => finish({ exitCode: -1, signal: 'SIGKILL' }) };
  }

  #count(pod: string, change: number): void {
    const now = (this.#running.get(pod) ?? 0) + change;
    this.#running.set(pod, now);
    this.most.set(pod, Math.max(this.most.get(pod) ?? 0, now));
  }

  get running(): number {
    return [...this.#running.values()].reduce((sum, count) => sum + count, 0);
  }
}
