/** What a request is about, read off its method, path and query alone. */
export interface RequestInfo {
  isResource: boolean;
  path: string;
  verb: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  /** What follows the subresource: `/proxy/<this>`. */
  rest: string;
  namespace: string;
  name: string;
  /** Of a list or watch. */
  fieldSelector?: string;
}

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

function verbOf(method: string): string {
  switch (method) {
    case 'POST':
      return 'create';
    case 'GET':
    case 'HEAD':
      return 'get';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
    default:
      return '';
  }
}

function nonResource(method: string, path: string): RequestInfo {
  return {
    isResource: false,
    path,
    verb: method.toLowerCase(),
    group: '',
    version: '',
    resource: '',
    subresource: '',
    rest: '',
    namespace: '',
    name: '',
  };
}

/** The name that a list or watch is narrowed to by `fieldSelector=metadata.name=x`: RBAC's resourceNames look at it. */
function nameFromFieldSelector(selector: string | undefined): string {
  if (selector === undefined || selector === '') return '';
  for (const part of selector.split(',')) {
    const match = /^metadata\.name==?([^!=]+)$/.exec(part);
    if (match) return match[1];
  }
  return '';
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function parseRequestInfo(method: string, path: string, query: (name: string) => string | undefined): RequestInfo {
  const parts = path.split('/');
  const root = parts[1];
  if (root !== 'api' && root !== 'apis') return nonResource(method, path);
  const group = root === 'api' ? '' : (parts[2] ?? '');
  const version = parts[root === 'api' ? 2 : 3] ?? '';
  let at = root === 'api' ? 3 : 4;
  if (version === '' || parts.length <= at || parts[at] === '') return nonResource(method, path);

  const info = nonResource(method, path);
  info.isResource = true;
  info.group = decodeSegment(group);
  info.version = decodeSegment(version);
  info.verb = verbOf(method);
  if (parts[at] === 'watch' && parts.length > at + 1) {
    info.verb = 'watch';
    at++;
  } else if (parts[at] === 'proxy' && parts.length > at + 1) {
    info.verb = 'proxy';
    at++;
  }
  if (parts[at] === 'namespaces') {
    const name = decodeSegment(parts[at + 1] ?? '');
    info.namespace = name;
    if (parts.length > at + 2 && parts[at + 2] !== '' && !NAMESPACE_SUBRESOURCES.has(parts[at + 2])) at += 2;
  }
  info.resource = decodeSegment(parts[at] ?? '');
  info.name = decodeSegment(parts[at + 1] ?? '');
  info.subresource = decodeSegment(parts[at + 2] ?? '');
  info.rest = parts.slice(at + 3).join('/');

  if (info.name === '' && info.verb === 'get') {
    const watch = query('watch');
    info.verb = watch !== undefined && watch !== 'false' && watch !== '0' ? 'watch' : 'list';
  } else if (info.name === '' && info.verb === 'delete') {
    info.verb = 'deletecollection';
  } else if (info.verb === 'get' && info.subresource === '') {
    // The old form `GET .../name?watch=true` is a watch on one object.
    const watch = query('watch');
    if (watch === 'true' || watch === '1') info.verb = 'watch';
  }
  if (info.name === '' && (info.verb === 'list' || info.verb === 'watch' || info.verb === 'deletecollection')) {
    info.fieldSelector = query('fieldSelector');
    info.name = nameFromFieldSelector(info.fieldSelector);
  }
  return info;
}
