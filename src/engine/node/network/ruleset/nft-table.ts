/**
 * One nftables table as it should be. Changes are collected and handed out as one transaction that holds only what differs from what the
 * kernel already has; the whole table can be written at any time instead, which also repairs one that somebody else changed.
 */
export interface SetSpec {
  kind: 'set' | 'map';
  /** What stands between the braces: `type ipv4_addr; flags timeout;`. */
  definition: string;
}

interface SetState {
  spec: SetSpec;
  /** Keys with the value of a map, or with '' in a set. */
  elements: Map<string, string>;
}

/** Elements per command: one line of many thousands would be parsed as slowly as it is long. */
const ELEMENTS_PER_COMMAND = 500;

export class NftTable {
  readonly name: string;
  /** Base chains and what never changes, written only with the whole table. */
  #fixed: string;
  #sets = new Map<string, SetState>();
  #chains = new Map<string, readonly string[]>();
  /** What the kernel has where it differs, or may differ, from what is wanted. */
  #sentSets = new Map<string, boolean>();
  #sentChains = new Map<string, boolean>();
  #sentElements = new Map<string, Map<string, string | undefined>>();

  constructor(name: string, fixed: string) {
    this.name = name;
    this.#fixed = fixed;
  }

  declareSet(name: string, spec: SetSpec): void {
    if (this.#sets.has(name)) return;
    note(this.#sentSets, name, false);
    this.#sets.set(name, { spec, elements: new Map() });
  }

  /** Maps stay: nobody makes one for a while only. */
  deleteSet(name: string): void {
    const set = this.#sets.get(name);
    if (!set) return;
    for (const key of set.elements.keys()) this.deleteElement(name, key);
    note(this.#sentSets, name, true);
    this.#sets.delete(name);
  }

  addElement(name: string, key: string, value = ''): void {
    const elements = this.#elementsOf(name);
    const present = elements.get(key);
    if (present === value) return;
    this.#noteElement(name, key, present);
    elements.set(key, value);
  }

  deleteElement(name: string, key: string): void {
    const elements = this.#elementsOf(name);
    const present = elements.get(key);
    if (present === undefined) return;
    this.#noteElement(name, key, present);
    elements.delete(key);
  }

  setChain(name: string, rules: readonly string[]): void {
    note(this.#sentChains, name, this.#chains.has(name));
    this.#chains.set(name, rules);
  }

  deleteChain(name: string): void {
    if (!this.#chains.has(name)) return;
    note(this.#sentChains, name, true);
    this.#chains.delete(name);
  }

  chain(name: string): readonly string[] | undefined {
    return this.#chains.get(name);
  }

  elements(name: string): ReadonlyMap<string, string> | undefined {
    return this.#sets.get(name)?.elements;
  }

  get changed(): boolean {
    return this.#sentSets.size + this.#sentChains.size + this.#sentElements.size > 0;
  }

  /** Everything that changed since the last call, in an order in which nothing is used before it is there or gone while it is used. */
  takeChanges(): string {
    const lines: string[] = [];
    const at = `ip ${this.name}`;
    for (const [name, sent] of this.#sentSets) {
      const set = this.#sets.get(name);
      if (set && !sent) lines.push(`add ${set.spec.kind} ${at} ${name} { ${set.spec.definition} }`);
    }
    for (const [name, sent] of this.#sentChains) if (!sent && this.#chains.has(name)) lines.push(`add chain ${at} ${name}`);
    for (const [name, sent] of this.#sentChains) {
      if (sent) lines.push(`flush chain ${at} ${name}`);
      for (const rule of this.#chains.get(name) ?? []) lines.push(`add rule ${at} ${name} ${rule}`);
    }
    for (const [name, sent] of this.#sentElements) this.#elementChanges(lines, name, sent);
    for (const [name, sent] of this.#sentChains) if (sent && !this.#chains.has(name)) lines.push(`delete chain ${at} ${name}`);
    for (const [name, sent] of this.#sentSets) {
      if (sent && !this.#sets.has(name)) lines.push(`delete set ${at} ${name}`);
    }
    this.#forgetChanges();
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  }

  /** Replaces whatever the kernel has under this name, in one step. */
  takeWhole(): string {
    const at = `ip ${this.name}`;
    const lines = [`add table ${at}`, `delete table ${at}`, `add table ${at}`];
    for (const [name, set] of this.#sets) lines.push(`add ${set.spec.kind} ${at} ${name} { ${set.spec.definition} }`);
    for (const name of this.#chains.keys()) lines.push(`add chain ${at} ${name}`);
    lines.push(`table ${at} {\n${this.#fixed}\n}`);
    for (const [name, rules] of this.#chains) for (const rule of rules) lines.push(`add rule ${at} ${name} ${rule}`);
    for (const [name, { elements }] of this.#sets) this.#addElements(lines, name, [...elements]);
    this.#forgetChanges();
    return `${lines.join('\n')}\n`;
  }

  #elementChanges(lines: string[], name: string, sent: Map<string, string | undefined>): void {
    const elements = this.#sets.get(name)?.elements;
    // The set goes as a whole.
    if (!elements) return;
    const gone: string[] = [];
    const fresh: [string, string][] = [];
    for (const [key, before] of sent) {
      const now = elements.get(key);
      if (now === before) continue;
      if (before !== undefined) gone.push(key);
      if (now !== undefined) fresh.push([key, now]);
    }
    for (let i = 0; i < gone.length; i += ELEMENTS_PER_COMMAND) {
      lines.push(`delete element ip ${this.name} ${name} { ${gone.slice(i, i + ELEMENTS_PER_COMMAND).join(', ')} }`);
    }
    this.#addElements(lines, name, fresh);
  }

  #addElements(lines: string[], name: string, elements: readonly [string, string][]): void {
    for (let i = 0; i < elements.length; i += ELEMENTS_PER_COMMAND) {
      const texts = elements.slice(i, i + ELEMENTS_PER_COMMAND).map(([key, value]) => (value === '' ? key : `${key} : ${value}`));
      lines.push(`add element ip ${this.name} ${name} { ${texts.join(', ')} }`);
    }
  }

  #elementsOf(name: string): Map<string, string> {
    const set = this.#sets.get(name);
    if (!set) throw new Error(`Cannot change the set "${name}": it was not declared; declare it first`);
    return set.elements;
  }

  #noteElement(name: string, key: string, value: string | undefined): void {
    let sent = this.#sentElements.get(name);
    if (!sent) this.#sentElements.set(name, (sent = new Map()));
    if (!sent.has(key)) sent.set(key, value);
  }

  #forgetChanges(): void {
    this.#sentSets.clear();
    this.#sentChains.clear();
    this.#sentElements.clear();
  }
}

function note(sent: Map<string, boolean>, name: string, value: boolean): void {
  if (!sent.has(name)) sent.set(name, value);
}
