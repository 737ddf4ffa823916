import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, ENVIRONMENT } from '../../../../lib/run-command.ts';
import { runCommand } from './commands.ts';
import { inNamespace } from './namespaces.ts';

interface Waiting {
  command: string;
  input: string;
  resolve: (output: string) => void;
  reject: (error: Error) => void;
}

/** Some shells read their own input byte by byte: what is longer gets a process from us. */
const MAX_INPUT = 16_384;

const places = new Map<string, string>();

/** By its path: some shells have small tools of the same name in themselves, which can less. */
function located(command: string): string {
  const [tool, ...args] = command.split(' ');
  const place =
    places.get(tool) ??
    ENVIRONMENT.PATH.split(':')
      .map((folder) => join(folder, tool))
      .find((path) => existsSync(path)) ??
    tool;
  places.set(tool, place);
  return [place, ...args].join(' ');
}

/**
 * A shell that lives in a network namespace and starts small tools for us, one after the other. Node stands still while it starts a process,
 * for longer the larger it is and the busier the machine; a shell is small, and nobody waits for it. It ends with us.
 */
export class CommandShell {
  #namespace: string | undefined;
  #end = `end-${randomBytes(8).toString('hex')}`;
  #shell: ChildProcessWithoutNullStreams | undefined;
  #queue: Waiting[] = [];
  #output = '';
  #stopped = false;

  constructor(namespace: string | undefined) {
    this.#namespace = namespace;
  }

  /** Runs a tool with this on its standard input. `command` is ours, never anybody's words: it is not quoted. */
  run(command: string, input: string): Promise<string> {
    if (this.#stopped || input.length > MAX_INPUT) {
      const [tool, ...args] = command.split(' ');
      return runCommand(tool, args, { namespace: this.#namespace, input });
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, input, resolve, reject });
      if (this.#queue.length === 1) this.#startNext();
    });
  }

  /** The namespace ends with the last process in it. */
  stop(): void {
    this.#stopped = true;
    this.#shell?.stdin.end();
  }

  #startNext(): void {
    const next = this.#queue[0];
    this.#hold(next !== undefined);
    if (!next) return;
    this.#shell ??= this.#start();
    this.#output = '';
    this.#shell.stdin.write(`${located(next.command)} 2>&1 <<'${this.#end}'\n${next.input}\n${this.#end}\necho "${this.#end} $?"\n`);
  }

  #start(): ChildProcessWithoutNullStreams {
    const shell = inNamespace(this.#namespace, () => spawn('sh', [], { stdio: ['pipe', 'pipe', 'pipe'], env: ENVIRONMENT }));
    shell.stdout.setEncoding('utf8');
    shell.stdout.on('data', (text: string) => this.#read(text));
    shell.stderr.resume();
    shell.stdin.on('error', () => {});
    const gone = (): void => {
      if (this.#shell !== shell) return;
      this.#shell = undefined;
      this.#queue.shift()?.reject(new Error('Cannot run a command: the shell of the router ended; trying again starts another'));
      this.#startNext();
    };
    shell.on('error', gone);
    shell.on('close', gone);
    return shell;
  }

  /** Keeps this process alive while somebody waits, and not otherwise. */
  #hold(busy: boolean): void {
    if (!this.#shell) return;
    const { stdin, stdout, stderr } = this.#shell;
    for (const handle of [this.#shell, stdin, stdout, stderr] as unknown as { ref(): void; unref(): void }[]) {
      if (busy) handle.ref();
      else handle.unref();
    }
  }

  #read(text: string): void {
    this.#output += text;
    const end = new RegExp(`${this.#end} (\\d+)\n`).exec(this.#output);
    if (!end) return;
    const { command, resolve, reject } = this.#queue.shift()!;
    const output = this.#output.slice(0, end.index);
    if (end[1] === '0') resolve(output);
    else reject(new CommandError(command, `status ${end[1]}`, output));
    this.#startNext();
  }
}
