/** Names of specs as upstream writes them, without `[Conformance]` and the labels that Ginkgo repeats behind it. */
export type SpecName = string;

/** Blocks of the list file: names, one per line, separated by empty lines; `#` starts a comment. */
export function readBlocks(text: string): SpecName[][] {
  const withoutComments = text.replaceAll(/^#.*\n/gm, '');
  return withoutComments
    .split(/\n\s*\n/)
    .map((block) => block.split('\n').filter((line) => line.trim() !== ''))
    .filter((block) => block.length > 0);
}

/** What Ginkgo's `focus` has to be for exactly this spec: one name can be the beginning of another. */
export function focusOf(name: SpecName): string {
  return `${name.replaceAll(/[^\w /'-]/g, '\\$&')} \\[Conformance\\]`;
}

/** How each spec of a JUnit report ended; specs that were skipped are left out. */
export function readReport(junit: string): Record<SpecName, string> {
  const ends: Record<SpecName, string> = {};
  for (const [, attributes, body] of junit.matchAll(/<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const name = /name="\[It\] ([^"]*)"/.exec(attributes)?.[1];
    const status = /status="([^"]*)"/.exec(attributes)?.[1];
    if (name === undefined || status === undefined || status === 'skipped') continue;
    const failure = /<(?:failure|error) message="([^"]*)"/.exec(body ?? '')?.[1];
    ends[specName(unescapeXml(name))] = failure === undefined ? status : `${status}: ${unescapeXml(failure)}`;
  }
  return ends;
}

function specName(text: string): SpecName {
  return text.replace(/ \[Conformance\] \[[^\]]*\]$/, '');
}

const ENTITIES: Record<string, string> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  '#34': '"',
  '#39': "'",
  '#xA': '\n',
  '#x9': '\t',
};

function unescapeXml(text: string): string {
  return text.replaceAll(/&(#?\w+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole);
}
