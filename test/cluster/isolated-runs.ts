import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Executions } from '../../src/areas/runs/servers/executions.ts';
import { LANGUAGES, type LanguageName } from '../../src/areas/runs/servers/language.ts';
import { openProcessLauncher, type ProcessLauncherOptions } from '../../src/areas/runs/servers/process-launcher.ts';
import { ExecutionState } from '../../src/areas/runs/protocol/generated/executor_pb.js';
import { realClock } from '../../src/lib/clock.ts';

export interface RunResult {
  succeeded: boolean;
  exitCode: number;
  error: string;
  stdout: string;
  stderr: string;
}

/** The executions of a Runtime Server with `process` isolation, without the Pod around it. */
export class IsolatedRuns {
  readonly workspace: string;
  readonly executions: Executions;
  readonly limits: string;
  #next = 0;

  private constructor(workspace: string, executions: Executions, limits: string) {
    this.workspace = workspace;
    this.executions = executions;
    this.limits = limits;
  }

  static async open(name: LanguageName, options: Partial<ProcessLauncherOptions> = {}): Promise<IsolatedRuns> {
    // Not in /tmp, as the volume of a Pod is not.
    const workspace = options.workspace ?? mkdtempSync('/mnt/tenantry-runs-');
    const language = LANGUAGES[name];
    const opened = await openProcessLauncher({
      language,
      baseEnv: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp' },
      warmWorkers: 2,
      network: false,
      workspace,
      limits: { processes: 64, memoryBytes: 128 << 20 },
      temporaryBytes: 16 << 20,
      programs: [process.execPath],
      clock: realClock,
      ...options,
    });
    if (!('launcher' in opened)) throw new Error(JSON.stringify(opened));
    return new IsolatedRuns(workspace, new Executions({ language, launcher: opened.launcher, clock: realClock }), opened.limits);
  }

  folder(id: string): string {
    return join(this.workspace, id);
  }

  prepare(id: string, files: Record<string, string> = {}): string {
    const folder = this.folder(id);
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return folder;
  }

  /** Starts a program and leaves it running. @returns its id */
  async start(
    script: string,
    options: { id?: string; env?: Record<string, string>; network?: boolean; timeoutMs?: number } = {},
  ): Promise<string> {
    const { id = `run-${this.#next++}`, env = {}, network = false, timeoutMs = 30_000 } = options;
    const workingDir = this.prepare(id, { script });
    await this.executions.execute({ id, args: [], env, timeoutMs, workingDir, entrypoint: '', network });
    return id;
  }

  async end(id: string): Promise<RunResult> {
    await new Promise<void>((resolve) => {
      this.executions.watch(id, { stdout: 0, stderr: 0 }, { output() {}, end: () => resolve() });
    });
    const { state, exitCode, errorMessage, stdout, stderr } = this.executions.status(id);
    return { succeeded: state === ExecutionState.SUCCEEDED, exitCode, error: errorMessage, stdout, stderr };
  }

  async run(script: string, options: Parameters<IsolatedRuns['start']>[1] = {}): Promise<RunResult> {
    return this.end(await this.start(script, options));
  }

  /** Resolves when a running program has said this. */
  async said(id: string, text: string): Promise<string> {
    for (;;) {
      const { stdout, state } = this.executions.status(id);
      if (stdout.includes(text)) return stdout;
      if (state === ExecutionState.FAILED || state === ExecutionState.SUCCEEDED) throw new Error(`"${id}" ended without saying "${text}"`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async close(): Promise<void> {
    await this.executions.close();
    rmSync(this.workspace, { recursive: true, force: true });
  }
}
