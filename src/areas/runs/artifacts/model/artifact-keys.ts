/** Whose artifacts: a Run, by its uid, so that another of the same name has others. */
export interface RunIdentity {
  namespace: string;
  uid: string;
}

/** Where the artifacts of a Run are in a store: `[prefix/]namespaces/<ns>/runs/<uid>/`. */
export function runPrefix({ namespace, uid }: RunIdentity, prefix = ''): string {
  const parts = [...prefix.split('/').filter((part) => part !== ''), 'namespaces', namespace, 'runs', uid];
  return `${parts.join('/')}/`;
}

export function artifactKey(run: RunIdentity, name: string, prefix = ''): string {
  return `${runPrefix(run, prefix)}${name}`;
}

const LONGEST_NAME = 255;

/** What is wrong with the name of an artifact, if something is. */
export function nameProblem(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return 'is not a name';
  if (/[/\\\0]/.test(name)) return 'has a separator in its name';
  if (Buffer.byteLength(name) > LONGEST_NAME) return `has a name of more than ${LONGEST_NAME} bytes`;
  if (name.includes('\ufffd')) return 'has a name that is not UTF-8';
  return undefined;
}
