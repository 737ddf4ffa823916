import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

interface Entry {
  name: string;
  description: string;
  options: string[];
}

function entriesOf(program: Command): Entry[] {
  return program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    options: command.options.map((option) => option.long ?? option.short ?? '').filter((text) => text !== ''),
  }));
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
  const cases = entries.map((e) => `    ${e.name}) COMPREPLY=($(compgen -f -W "${e.options.join(' ')}" -- "$word"));;`).join('\n');
  return `_${name}_completion() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${entries.map((e) => e.name).join(' ')}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases}
  esac
}
complete -F _${name}_completion ${name}
`;
}

function zsh(name: string, entries: Entry[]): string {
  const commands = entries.map((e) => `    '${e.name}:${e.description.replaceAll("'", '').replaceAll(':', '')}'`).join('\n');
  const cases = entries.map((e) => `    ${e.name}) compadd -- ${e.options.join(' ')}; _files;;`).join('\n');
  return `#compdef ${name}
_${name}() {
  local -a commands=(
${commands}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  case "$words[2]" in
${cases}
  esac
}
compdef _${name} ${name}
`;
}

function fish(name: string, entries: Entry[]): string {
  const lines = entries.flatMap((e) => [
    `complete -c ${name} -n __fish_use_subcommand -a ${e.name} -d '${e.description.replaceAll("'", '')}'`,
    ...e.options.map((o) => `complete -c ${name} -n '__fish_seen_subcommand_from ${e.name}' -l ${o.replace(/^--?/, '')}`),
  ]);
  return `${lines.join('\n')}\n`;
}
