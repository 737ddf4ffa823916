/** What a registry asks for with `WWW-Authenticate`. */
export interface Challenge {
  /** In lower case. */
  scheme: string;
  parameters: Map<string, string>;
}

const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;

/** Reads a header with one or more challenges, as in `Bearer realm="https://auth",service="r.io", Basic realm="r"`. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: Challenge[] = [];
  const reader = new HeaderReader(header);
  while (!reader.done()) {
    reader.skip(/[\s,]*/y);
    const word = reader.take(TOKEN);
    if (word === '') break;
    reader.skip(/[ \t]*/y);
    const current = challenges.at(-1);
    // A word before `=` is a parameter of the scheme before; any other begins a challenge.
    if (current !== undefined && reader.take(/=[ \t]*/y) !== '') current.parameters.set(word.toLowerCase(), reader.value());
    else challenges.push({ scheme: word.toLowerCase(), parameters: new Map() });
  }
  return challenges;
}

class HeaderReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  done(): boolean {
    return this.#at >= this.#text.length;
  }

  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  skip(pattern: RegExp): void {
    this.take(pattern);
  }

  value(): string {
    const quoted = this.take(/"(?:[^"\\]|\\.)*"/y);
    return quoted === '' ? this.take(/[^\s,]*/y) : quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  }
}
