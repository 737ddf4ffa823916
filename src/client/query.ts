import type { TransportRequest } from './transport.ts';

export type Query = NonNullable<TransportRequest['query']>;

/** A label selector as text, or as a map of labels that must be equal. */
export type LabelSelector = string | Record<string, string>;

export function labelSelectorText(selector: LabelSelector | undefined): string | undefined {
  if (selector === undefined || typeof selector === 'string') return selector;
  const terms = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
  return terms.length === 0 ? undefined : terms.join(',');
}

export function flag(value: boolean | undefined): string | undefined {
  return value ? 'true' : undefined;
}

/** `?a=1&b=2`, or '' when there is nothing to say. */
export function queryText(query: Query | undefined): string {
  if (!query) return '';
  let text = '';
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) {
      text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(one)}`;
    }
  }
  return text;
}
