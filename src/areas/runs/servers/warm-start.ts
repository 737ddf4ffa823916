import type { LanguageName, Program } from './language.ts';

/**
 * Interpreters that were started ahead of time and wait for one program on descriptor 3. Each runs one and ends: a Run never meets what
 * another left behind in memory.
 */
export interface WarmStart {
  /** The command line that starts the interpreter. */
  argv: string[];
  /** Which of its words is a script for a shell. */
  script?: number;
  /** What is written to it; undefined when this program must be started cold. */
  message(program: Program, workingDir: string, env: Record<string, string>): string | undefined;
}

/** Variables that bash itself keeps from being set. */
const READ_ONLY = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID']);
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const bash: WarmStart = {
  // All there is, up to a number that no message reaches: by count it is read in blocks, up to a delimiter in single bytes.
  argv: ['bash', '--norc', '--noprofile', '-c', 'read -r -N 2000000000 -u 3 t; exec 3<&-; eval "unset t; $t"', 'bash'],
  script: 4,
  message(program, workingDir, env) {
    const values = Object.entries(env);
    if ([workingDir, ...values.flat()].some((text) => text.includes('\0'))) return undefined;
    if (values.some(([name]) => !NAME.test(name) || READ_ONLY.has(name) || name === 't')) return undefined;
    const exports = values.map(([name, value]) => `export ${name}=${quoted(value)}; `).join('');
    const body = bashBody(program);
    return body.includes('\0') ? undefined : `cd ${quoted(workingDir)} || exit 126; ${exports}${body}`;
  },
};

function bashBody(program: Program): string {
  if ('argv' in program) return `exec ${program.argv.map(quoted).join(' ')}`;
  if ('code' in program) return `eval ${quoted(program.code)}`;
  return `BASH_ARGV0=${quoted(program.file)}; set -- ${program.args.map(quoted).join(' ')}; . ${quoted(program.file)}`;
}

/** One word of a shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const PYTHON = [
  'import json, os, runpy, sys',
  'with os.fdopen(3, "rb") as f: r = json.loads(f.read())',
  'os.chdir(r["dir"]); os.environ.update(r["env"])',
  'sys.argv = r["argv"]',
  'sys.path[0] = os.path.dirname(r["file"]) if "file" in r else ""',
  'if "file" in r: runpy.run_path(r["file"], run_name="__main__")',
  'else: exec(compile(r["code"], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})',
].join('\n');

const NODE = [
  'const r = JSON.parse(require("node:fs").readFileSync(3, "utf8"));',
  'require("node:fs").closeSync(3); process.chdir(r.dir); Object.assign(process.env, r.env);',
  'process.argv = [process.execPath, ...r.argv];',
  'if (r.file) require("node:module").runMain();',
  'else { Object.assign(globalThis, { require, module, exports }); require("node:vm").runInThisContext(r.code, { filename: "[eval]" }); }',
].join('\n');

/** For interpreters that read one JSON object. Their own flags need a cold start. */
function json(argv: string[], codeName: string[]): WarmStart {
  return {
    argv,
    message(program, workingDir, env) {
      if ('argv' in program) return undefined;
      if ('code' in program) return JSON.stringify({ dir: workingDir, env, argv: codeName, code: program.code });
      return JSON.stringify({ dir: workingDir, env, argv: [program.file, ...program.args], file: program.file });
    },
  };
}

export const WARM_STARTS: Readonly<Record<LanguageName, WarmStart>> = {
  bash,
  python: json(['python3', '-c', PYTHON], ['-c']),
  node: json(['node', '-e', NODE], []),
};
