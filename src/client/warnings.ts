/**
 * The texts of a Warning header, several of which arrive joined by commas: `299 - "one", 299 - "two, still two"`.
 * Kubernetes uses code 299 and no date.
 */
export function parseWarnings(header: string | undefined): string[] {
  if (header === undefined || header === '') return [];
  const texts: string[] = [];
  for (const match of header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)) texts.push(match[1].replaceAll(/\\(.)/g, '$1'));
  return texts;
}
