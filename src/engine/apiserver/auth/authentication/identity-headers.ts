export type Headers = Record<string, string | string[] | undefined>;

/**
 * All values of a header, one per line that was sent. Node joins repeated lines into one string; a name may hold a comma itself, so
 * the listener must hand over an array where a line was repeated (`distinctIdentityHeaders`), and a string is one value here.
 */
export function headerValues(headers: Headers, name: string): string[] {
  const value = headers[name];
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** `Prefix-Some%2FKey: value` as { 'some/key': ['value'] }. Keys arrive in lower case. */
export function prefixedHeaders(headers: Headers, prefix: string): Record<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name in headers) {
    if (name.startsWith(prefix) && headers[name] !== undefined)
      found.set(unescapeKey(name.slice(prefix.length)), headerValues(headers, name));
  }
  return Object.fromEntries(found);
}

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

const IDENTITY = /^(x-remote-|impersonate-)/i;

/** The headers with every identity header as the list of its lines. `rawHeaders` alternates names and values, as Node gives it. */
export function distinctIdentityHeaders(headers: Headers, rawHeaders: readonly string[]): Headers {
  let distinct: Headers | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (!IDENTITY.test(rawHeaders[i])) continue;
    const name = rawHeaders[i].toLowerCase();
    if (distinct === undefined) {
      distinct = { ...headers };
      for (const key in distinct) if (IDENTITY.test(key)) distinct[key] = undefined;
    }
    const lines = distinct[name];
    distinct[name] = Array.isArray(lines) ? [...lines, rawHeaders[i + 1]] : [rawHeaders[i + 1]];
  }
  return distinct ?? headers;
}
