import type { LanguageName } from '../language.ts';

/** Programs that the checks need, as arguments of Execute. Servers for another language bring their own. */
export interface Programs {
  /** Writes `out` to its output, `err` to its errors, and succeeds. */
  hello: string[];
  /** Ends with exit code 3. */
  fails: string[];
  /** Says `up` at once and goes on for a minute. */
  sleeps: string[];
  /** As `sleeps`, and does not end when asked to (SIGTERM). */
  stubborn: string[];
  /** Writes 3,000,000 bytes 0xff to its output. */
  floods: string[];
  /** Writes the variable GREETING to its output. */
  greets: string[];
  /** The text of a file that writes its folder and its first argument to its output, two lines. */
  file: string;
}

export const PROGRAMS: Readonly<Record<LanguageName, Programs>> = {
  bash: {
    hello: ['echo out; echo err >&2'],
    fails: ['exit 3'],
    sleeps: ['echo up; sleep 60'],
    stubborn: ['trap "" TERM; echo up; for i in 1 2 3 4 5 6; do sleep 10; done'],
    floods: ['head -c 3000000 /dev/zero | tr "\\0" "\\377"'],
    greets: ['printf "%s" "$GREETING"'],
    file: 'pwd\necho "$1"\n',
  },
  python: {
    hello: ['-c', 'import sys; print("out"); print("err", file=sys.stderr)'],
    fails: ['-c', 'import sys; sys.exit(3)'],
    sleeps: ['-c', 'import time; print("up", flush=True); time.sleep(60)'],
    stubborn: ['-c', 'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print("up", flush=True); time.sleep(60)'],
    floods: ['-c', 'import sys; sys.stdout.buffer.write(b"\\xff" * 3000000)'],
    greets: ['-c', 'import os; print(os.environ["GREETING"], end="")'],
    file: 'import os, sys\nprint(os.getcwd())\nprint(sys.argv[1])\n',
  },
  node: {
    hello: ['-e', 'console.log("out"); console.error("err")'],
    fails: ['-e', 'process.exit(3)'],
    sleeps: ['-e', 'console.log("up"); setTimeout(() => {}, 60000)'],
    stubborn: ['-e', 'process.on("SIGTERM", () => {}); console.log("up"); setTimeout(() => {}, 60000)'],
    floods: ['-e', 'process.stdout.write(Buffer.alloc(3000000, 255))'],
    greets: ['-e', 'process.stdout.write(process.env.GREETING)'],
    file: 'console.log(process.cwd());\nconsole.log(process.argv[2]);\n',
  },
};
