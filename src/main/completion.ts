import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** What may follow an option, or stand as an argument: one of some words, a file, a directory, or anything. */
type Values = readonly string[] | 'files' | 'directories' | undefined;

interface Flag {
  flags: string[];
  description: string;
  takesValue: boolean;
  values: Values;
}

interface Entry {
  name: string;
  description: string;
  flags: Flag[];
  values: Values;
}

function entriesOf(program: Command): Entry[] {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    flags: command.options.map((option) => ({
      flags: [option.long, option.short].filter((flag) => flag !== undefined && flag !== null),
      description: option.description,
      takesValue: option.required,
      values: option.argChoices ?? valuesNamed(/<(\w+)>/.exec(option.flags)?.[1]),
    })),
    values: command.registeredArguments[0]?.argChoices ?? valuesNamed(command.registeredArguments[0]?.name()),
  }));
  const help = { name: 'help', description: 'display help for command', flags: [], values: commands.map(({ name }) => name) };
  return [...commands, help];
}

function valuesNamed(name: string | undefined): Values {
  if (name === 'dir') return 'directories';
  return name === 'file' ? 'files' : undefined;
}

/** A completion script made from the commands themselves, so that it cannot fall behind them. */
export function completionScript(shell: string, program: Command): string {
  const name = program.name();
  const entries = entriesOf(program);
  switch (shell) {
    case 'bash':
      return bash(name, entries);
    case 'zsh':
      return zsh(name, entries);
    case 'fish':
      return fish(name, entries);
    default:
      throw new Error(`Cannot make a completion script for "${shell}": the shells are ${SHELLS.join(', ')}; name one of them`);
  }
}

function bash(name: string, entries: Entry[]): string {
  const afterFlags = entries.flatMap((entry) =>
    entry.flags
      .filter((flag) => flag.takesValue)
      .flatMap((flag) => flag.flags.map((text) => `    "${entry.name} ${text}") ${bashReply('', flag.values)} return;;`)),
  );
  const cases = entries.map((entry) => `    ${entry.name}) ${bashReply(longFlags(entry).join(' '), entry.values)};`);
  return `_${name}_completion() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${entries.map((entry) => entry.name).join(' ')}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]} $previous" in
${afterFlags.join('\n')}
  esac
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
}
complete -o filenames -F _${name}_completion ${name}
`;
}

function bashReply(words: string, values: Values): string {
  const all = [words, ...(Array.isArray(values) ? values : [])].filter((word) => word !== '').join(' ');
  const paths = values === 'files' ? '-f ' : values === 'directories' ? '-d ' : '';
  return `COMPREPLY=($(compgen ${paths}-W "${all}" -- "$word"));`;
}

function longFlags(entry: Entry): string[] {
  return entry.flags.map((flag) => flag.flags[0]);
}

function zsh(name: string, entries: Entry[]): string {
  const commands = entries.map((entry) => `    '${entry.name}:${plain(entry.description)}'`);
  const cases = entries.map((entry) => {
    const specs = entry.flags.flatMap((flag) =>
      flag.flags.map((text) => `'${text}[${plain(flag.description)}]${flag.takesValue ? `:value:${zshAction(flag.values)}` : ''}'`),
    );
    if (entry.values !== undefined) specs.push(`'1:value:${zshAction(entry.values)}'`);
    return `    ${entry.name}) _arguments ${specs.join(' ')};;`;
  });
  return `#compdef ${name}
_${name}() {
  local -a commands=(
${commands.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local chosen="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$chosen" in
${cases.join('\n')}
  esac
}
compdef _${name} ${name}
`;
}

function zshAction(values: Values): string {
  if (Array.isArray(values)) return `(${values.join(' ')})`;
  return values === 'directories' ? '_files -/' : values === 'files' ? '_files' : '';
}

function fish(name: string, entries: Entry[]): string {
  const lines = entries.flatMap((entry) => {
    const inside = `complete -c ${name} -n '__fish_seen_subcommand_from ${entry.name}'`;
    return [
      `complete -c ${name} -f -n __fish_use_subcommand -a ${entry.name} -d '${plain(entry.description)}'`,
      ...entry.flags.map(
        (flag) => `${inside} ${fishFlags(flag)}${fishValues(flag.takesValue, flag.values)} -d '${plain(flag.description)}'`,
      ),
      ...(Array.isArray(entry.values) ? [`${inside} -f -a '${entry.values.join(' ')}'`] : []),
    ];
  });
  return `${lines.join('\n')}\n`;
}

function fishFlags(flag: Flag): string {
  return flag.flags.map((text) => (text.startsWith('--') ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`)).join(' ');
}

function fishValues(takesValue: boolean, values: Values): string {
  if (!takesValue) return ' -f';
  return Array.isArray(values) ? ` -x -a '${values.join(' ')}'` : ' -r';
}

/** Without the characters that mean something inside the quotes and brackets of a completion script. */
function plain(text: string): string {
  return text.replaceAll(/['[\]:$]/g, '');
}
