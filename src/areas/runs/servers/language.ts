import { existsSync, realpathSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

/** What an execution runs: a file of its folder with arguments, a text, or a command line as it is. */
export type Program = { file: string; args: string[] } | { code: string } | { argv: string[] };

export type LanguageName = 'bash' | 'python' | 'node';

export interface Language {
  name: LanguageName;
  interpreter: string;
  /** The file that is run when the request names none. */
  defaultEntrypoint: string;
  /** What arguments mean when there is no file. */
  fromArguments(args: string[]): Program | undefined;
  /** The command line of a program that is started cold. */
  commandLine(program: Program): string[];
}

export const LANGUAGES: Readonly<Record<LanguageName, Language>> = {
  bash: {
    name: 'bash',
    interpreter: 'bash',
    defaultEntrypoint: 'script',
    fromArguments(args) {
      if ((args[0] === 'sh' || args[0] === 'bash') && args[1] === '-c') return { argv: args };
      return args.length === 0 ? undefined : { code: args.join('\n') };
    },
    commandLine: (program) =>
      'argv' in program ? program.argv : 'code' in program ? ['bash', '-c', program.code] : ['bash', program.file, ...program.args],
  },
  python: interpreted('python', 'python3', '-c'),
  node: interpreted('node', 'node', '-e'),
};

/** Interpreters that take their own arguments; a lone one that is neither a flag nor a file is taken as code. */
function interpreted(name: LanguageName, interpreter: string, codeFlag: string): Language {
  return {
    name,
    interpreter,
    defaultEntrypoint: 'script',
    fromArguments(args) {
      if (args.length === 0) return undefined;
      if (args[0] === codeFlag && args.length === 2) return { code: args[1] };
      if (args.length === 1 && !args[0].startsWith('-')) return { code: args[0] };
      return { argv: [interpreter, ...args] };
    },
    commandLine: (program) =>
      'argv' in program
        ? program.argv
        : 'code' in program
          ? [interpreter, codeFlag, program.code]
          : [interpreter, program.file, ...program.args],
  };
}

export interface ProgramRequest {
  workingDir: string;
  entrypoint: string;
  args: string[];
}

/**
 * What a request asks to run. @returns a text that says why nothing can be run; the texts are compared with by clients
 */
export function programOf(language: Language, { workingDir, entrypoint, args }: ProgramRequest): Program | { failure: string } {
  const named = entrypoint || language.defaultEntrypoint;
  const file = resolve(workingDir, named);
  if (existsSync(file)) {
    if (!isInside(workingDir, file)) {
      return { failure: `Cannot run "${named}": it leads out of the working directory; name a file inside it` };
    }
    return { file, args };
  }
  if (entrypoint !== '' && args.length === 0) {
    return { failure: `Cannot run "${entrypoint}": no such file in the working directory; check the entrypoint` };
  }
  return language.fromArguments(args) ?? { failure: 'no args or script provided' };
}

/** Links are followed first: one may lead anywhere. */
function isInside(folder: string, file: string): boolean {
  return realpathSync(file).startsWith(join(realpathSync(folder), sep));
}
