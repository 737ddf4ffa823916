/**
 * Where in an object a finding is. Validation of a correct object makes these and never reads them, so they are links to
 * their parents; the text is put together only for a finding.
 */
export class Path {
  readonly parent: Path | undefined;
  readonly name: string | number;
  readonly subscript: boolean;

  constructor(parent: Path | undefined, name: string | number, subscript: boolean) {
    this.parent = parent;
    this.name = name;
    this.subscript = subscript;
  }

  child(name: string, ...more: string[]): Path {
    let path = new Path(this, name, false);
    for (const next of more) path = new Path(path, next, false);
    return path;
  }

  index(index: number): Path {
    return new Path(this, index, true);
  }

  key(key: string): Path {
    return new Path(this, key, true);
  }

  toString(): string {
    const before = this.parent === undefined ? '' : this.parent.toString();
    // A name of nothing prints as Go prints it: as an empty subscript.
    if (this.subscript || this.name === '') return `${before}[${this.name}]`;
    return this.parent === undefined ? `${this.name}` : `${before}.${this.name}`;
  }
}

/** `path('spec', 'template')` is `spec.template`. */
export function path(name: string, ...more: string[]): Path {
  const root = new Path(undefined, name, false);
  return more.length === 0 ? root : root.child(more[0], ...more.slice(1));
}
