import type { Session } from '../terminal/session.ts';

/** What cannot be undone is done once the name was typed again. */
export async function confirmName(session: Session, doing: string, name: string, given: string | undefined): Promise<void> {
  const typed = given ?? (await ask(session));
  if (typed === name) return;
  throw new Error(
    `Cannot ${doing} "${name}": "${typed}" was typed instead of its name; nothing was changed. In scripts: --confirm ${name}`,
  );
}

async function ask(session: Session): Promise<string> {
  if (!session.errIsTerminal) return '';
  session.err('Type the name of the cluster to go on: ');
  return (await session.line()).trim();
}
