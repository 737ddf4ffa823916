import { spawn } from 'node:child_process';

export type OciRuntimeName = 'runc' | 'crun' | 'runsc';

/** A program that runs OCI bundles. */
export interface OciRuntime {
  name: OciRuntimeName;
  path: string;
}

/** Where one data directory keeps the runtime's own records. */
export interface RuntimeState {
  runtime: OciRuntime;
  stateFolder: string;
}

export interface RuntimeResult {
  exitCode: number;
  output: string;
}

/**
 * runsc would take the addresses of a Pod's namespace away for its own network stack, and the next container of the Pod would have
 * none: it uses the kernel's, inside of the Pod's namespace.
 */
const RUNTIME_OPTIONS: Partial<Record<OciRuntimeName, string[]>> = { runsc: ['--network=host'] };

/** The beginning of every command line. `log`: where complaints go, apart from what the container itself says. */
export function runtimeArguments({ runtime, stateFolder }: RuntimeState, log?: string): string[] {
  const args = [runtime.path, '--root', stateFolder, ...(RUNTIME_OPTIONS[runtime.name] ?? [])];
  if (log) args.push('--log', log, '--log-format', 'json');
  return args;
}

export interface ContainerFiles {
  id: string;
  bundle: string;
  pidFile: string;
  log: string;
  /** Where the terminal is handed over, for a container that has one. */
  consoleSocket?: string;
}

/** Leaves the container behind and exits: its parent is then whoever is the subreaper. */
export function runDetached(state: RuntimeState, { id, bundle, pidFile, log, consoleSocket }: ContainerFiles): string[] {
  const terminal = consoleSocket ? ['--console-socket', consoleSocket] : [];
  return [...runtimeArguments(state, log), 'run', '--detach', '--bundle', bundle, '--pid-file', pidFile, ...terminal, id];
}

/** Stays with the container, and ends as it ends: with runsc, the process that is left behind is not the container's but its kernel. */
export function runAttended(state: RuntimeState, { id, bundle, pidFile, log }: ContainerFiles): string[] {
  return [...runtimeArguments(state, log), 'run', '--bundle', bundle, '--pid-file', pidFile, id];
}

export function runExec(state: RuntimeState, exec: { id: string; process: string; pidFile: string; log: string }): string[] {
  const { id, process, pidFile, log } = exec;
  return [...runtimeArguments(state, log), 'exec', '--process', process, '--pid-file', pidFile, id];
}

export function runDelete(state: RuntimeState, id: string): string[] {
  return [...runtimeArguments(state), 'delete', '--force', id];
}

export function runKill(state: RuntimeState, id: string, signal: NodeJS.Signals): string[] {
  return [...runtimeArguments(state), 'kill', id, signal];
}

/** Runs a short command of the runtime to its end. Rejects when it cannot be started or takes too long. */
export function runtimeCommand(argv: string[], timeoutMs: number): Promise<RuntimeResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0], argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs, killSignal: 'SIGKILL' });
    let output = '';
    const collect = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-4000));
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (signal) reject(new Error(`Cannot run "${argv[0]}": ended by ${signal} after at most ${timeoutMs} ms; it said: ${output.trim()}`));
      else resolve({ exitCode: code ?? 0, output });
    });
  });
}
