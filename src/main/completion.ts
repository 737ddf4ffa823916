import type { Command } from 'commander';
import { RUN_PHASES } from '../api/kruntimes.io/v1alpha1/run.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** What may follow an option, or stand as an argument: one of some words, a file, a directory, an object of the cluster, or anything. */
type Values = readonly string[] | 'files' | 'directories' | NamedKind | undefined;

/** Objects whose names the cluster is asked for. */
interface NamedKind {
  ask: 'runs' | 'runtimes' | 'namespaces' | 'tenants';
}

/** By what an argument, or the value of an option, is called. */
const NAMED: Readonly<Record<string, Values>> = {
  dir: 'directories',
  file: 'files',
  run: { ask: 'runs' },
  runtime: { ask: 'runtimes' },
  namespace: { ask: 'namespaces' },
  tenant: { ask: 'tenants' },
  phase: RUN_PHASES,
  format: ['table', 'wide', 'json', 'yaml', 'name', 'jsonpath='],
};

/** Commands for scripts like ours, of no interest to whoever types. */
const isHidden = (name: string): boolean => name.startsWith('__');

interface Flag {
  flags: string[];
  description: string;
  takesValue: boolean;
  values: Values;
}

/** A command, or the program itself, whose path is empty. */
interface Entry {
  path: string[];
  description: string;
  flags: Flag[];
  values: Values;
  /** Commands inside of it. */
  children: { name: string; description: string }[];
}

const HELP = { name: 'help', description: 'display help for command' };

/** The program, and all commands at whatever depth. */
function entriesOf(program: Command): Entry[] {
  const [root, ...commands] = entriesBelow(program, []);
  const names = root.children.map(({ name }) => name);
  const help: Entry = { path: [HELP.name], description: HELP.description, flags: [], values: names, children: [] };
  // At the start nobody looks for options: they would hide the commands.
  return [{ ...root, flags: [], children: [...root.children, HELP] }, ...commands, help];
}

function entriesBelow(command: Command, path: string[]): Entry[] {
  const argument = command.registeredArguments[0];
  const children = command.commands.filter((child) => !isHidden(child.name()));
  const entry: Entry = {
    path,
    description: command.description(),
    flags: command.options.map((option) => ({
      flags: [option.long, option.short].filter((flag) => flag !== undefined && flag !== null),
      description: option.description,
      takesValue: option.required,
      values: option.argChoices ?? NAMED[/<(\w+)>/.exec(option.flags)?.[1] ?? ''],
    })),
    values: argument?.argChoices ?? NAMED[argument?.name() ?? ''],
    children: children.map((child) => ({ name: child.name(), description: child.description() })),
  };
  return [entry, ...children.flatMap((child) => entriesBelow(child, [...path, child.name()]))];
}

/**
 * A completion script made from the commands themselves, so that it cannot fall behind them.
 * @param asks the command that tells the names of objects: it is given their kind and what was typed so far
 */
export function completionScript(shell: string, program: Command, asks: string): string {
  const name = program.name();
  const entries = entriesOf(program);
  switch (shell) {
    case 'bash':
      return bash(name, entries, asks);
    case 'zsh':
      return zsh(name, entries, asks);
    case 'fish':
      return fish(name, entries, asks);
    default:
      throw new Error(`Cannot make a completion script for "${shell}": the shells are ${SHELLS.join(', ')}; name one of them`);
  }
}

/** The command that was typed so far, as the scripts hold it: ` image load`. */
function typed({ path }: Entry): string {
  return path.map((name) => ` ${name}`).join('');
}

/** As alternatives of a `case`: all commands there are. */
function knownCommands(entries: Entry[]): string {
  return entries
    .filter(({ path }) => path.length > 0)
    .map((entry) => `"${typed(entry)}"`)
    .join('|');
}

function bash(name: string, entries: Entry[], asks: string): string {
  const afterFlags = entries.flatMap((entry) =>
    entry.flags
      .filter((flag) => flag.takesValue)
      .flatMap((flag) => flag.flags.map((text) => `    "${typed(entry)} ${text}") ${bashReply(name, [], flag.values)} return;;`)),
  );
  const cases = entries.map((entry) => {
    const words = [...entry.children.map((child) => child.name), ...entry.flags.map((flag) => flag.flags[0])];
    return `    "${typed(entry)}") ${bashReply(name, words, entry.values)};`;
  });
  return `_${name}_names() {
  [[ "$word" == -* ]] || ${asks} "$1" -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null
}
_${name}_completion() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" chosen="" each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$chosen $each" in
      ${knownCommands(entries)}) chosen="$chosen $each";;
    esac
  done
  case "$chosen $previous" in
${afterFlags.join('\n')}
  esac
  case "$chosen" in
${cases.join('\n')}
  esac
}
complete -o filenames -F _${name}_completion ${name}
`;
}

function bashReply(name: string, words: string[], values: Values): string {
  const asked = isNamed(values) ? [`$(_${name}_names ${values.ask})`] : [];
  const all = [...words, ...(Array.isArray(values) ? values : []), ...asked].join(' ');
  const paths = values === 'files' ? '-f ' : values === 'directories' ? '-d ' : '';
  return `COMPREPLY=($(compgen ${paths}-W "${all}" -- "$word"));`;
}

function isNamed(values: Values): values is NamedKind {
  return typeof values === 'object' && 'ask' in values;
}

function zsh(name: string, entries: Entry[], asks: string): string {
  return `#compdef ${name}
_${name}_names() {
  local -a names
  names=(\${(f)"$(${asks} $1 -- \${words[2,CURRENT-1]} 2>/dev/null)"})
  compadd -a names
}
_${name}() {
  local chosen=""
  local -a commands
  while (( CURRENT > 2 )); do
    case "$chosen $words[2]" in
      ${knownCommands(entries)}) chosen="$chosen $words[2]"; shift words; (( CURRENT-- ));;
      *) break;;
    esac
  done
  case "$chosen" in
${entries.map((entry) => `    "${typed(entry)}") ${zshReply(name, entry)};;`).join('\n')}
  esac
}
compdef _${name} ${name}
`;
}

function zshReply(name: string, { children, flags, values }: Entry): string {
  const specs = flags.flatMap((flag) =>
    flag.flags.map((text) => `'${text}[${plain(flag.description)}]${flag.takesValue ? `:value:${zshAction(name, flag.values)}` : ''}'`),
  );
  if (values !== undefined) specs.push(`'${isNamed(values) ? '*' : '1'}:value:${zshAction(name, values)}'`);
  const commands = children.map((child) => `'${child.name}:${plain(child.description)}'`).join(' ');
  const describe = children.length > 0 ? [`commands=(${commands}); (( CURRENT == 2 )) && _describe 'command' commands`] : [];
  return [...describe, ...(specs.length > 0 || children.length === 0 ? [`_arguments ${specs.join(' ')}`] : [])].join('; ');
}

function zshAction(name: string, values: Values): string {
  if (isNamed(values)) return `{_${name}_names ${values.ask}}`;
  if (Array.isArray(values)) return `(${values.join(' ')})`;
  return values === 'directories' ? '_files -/' : values === 'files' ? '_files' : '';
}

function fish(name: string, entries: Entry[], asks: string): string {
  const lines = entries.flatMap((entry) => {
    const seen = entry.path.map((each) => `__fish_seen_subcommand_from ${each}`).join('; and ');
    const names = entry.children.map((child) => child.name).join(' ');
    const offered = seen === '' ? '__fish_use_subcommand' : `${seen}; and not __fish_seen_subcommand_from ${names}`;
    const inside = `complete -c ${name} -n '${seen}'`;
    return [
      ...entry.children.map((child) => `complete -c ${name} -f -n '${offered}' -a ${child.name} -d '${plain(child.description)}'`),
      ...entry.flags.map(
        (flag) => `${inside} ${fishFlags(flag)}${fishValues(asks, flag.takesValue, flag.values)} -d '${plain(flag.description)}'`,
      ),
      ...(Array.isArray(entry.values) || isNamed(entry.values) ? [`${inside} -f -a '${fishWords(asks, entry.values)}'`] : []),
    ];
  });
  return `${lines.join('\n')}\n`;
}

function fishFlags(flag: Flag): string {
  return flag.flags.map((text) => (text.startsWith('--') ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`)).join(' ');
}

function fishValues(asks: string, takesValue: boolean, values: Values): string {
  if (!takesValue) return ' -f';
  return Array.isArray(values) || isNamed(values) ? ` -x -a '${fishWords(asks, values)}'` : ' -r';
}

function fishWords(asks: string, values: readonly string[] | NamedKind): string {
  return isNamed(values) ? `(${asks} ${values.ask} -- (commandline -opc) 2>/dev/null)` : values.join(' ');
}

/** Without the characters that mean something inside the quotes and brackets of a completion script. */
function plain(text: string): string {
  return text.replaceAll(/['[\]:$]/g, '');
}
