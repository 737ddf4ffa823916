import { isDns1123Subdomain } from '../../../../kube/names.ts';
import { isPortNumber } from '../../../../kube/ports.ts';
import type { Json } from '../../../../kube/object.ts';
import type { Findings } from '../findings.ts';
import type { Path } from '../path.ts';

/** Where a webhook is: a URL or a Service. */
export function checkClientConfig(out: Findings, { url, service }: Json, at: Path): void {
  if ((url === undefined) === (service === undefined)) return out.required(at, 'exactly one of url or service is required');
  if (url !== undefined) checkUrl(out, url, at.child('url'));
  else checkService(out, service, at.child('service'));
}

interface Url {
  scheme: string;
  user?: string;
  host: string;
  query: string;
  fragment: string;
}

/** The parts as Go's net/url sees them; it takes nearly everything that has no control characters. */
function splitUrl(text: string): Url {
  const [beforeFragment, fragment = ''] = splitAt(text, '#');
  const match = /^([a-zA-Z][a-zA-Z0-9+.-]*):(.*)$/s.exec(beforeFragment);
  const [rest, query = ''] = splitAt(match === null ? beforeFragment : match[2], '?');
  const authority = rest.startsWith('//') ? rest.slice(2).split('/', 1)[0] : '';
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? undefined : authority.slice(0, at);
  return { scheme: match === null ? '' : match[1].toLowerCase(), user, host: authority.slice(at + 1), query, fragment };
}

function splitAt(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function checkUrl(out: Findings, text: string, at: Path): void {
  const form = '; desired format: https://host[/path]';
  const { scheme, user, host, query, fragment } = splitUrl(text);
  if (scheme !== 'https') out.invalid(at, scheme, `'https' is the only allowed URL scheme${form}`);
  if (host === '') out.invalid(at, host, `host must be specified${form}`);
  if (user !== undefined) out.invalid(at, user, 'user information is not permitted in the URL');
  if (fragment !== '') out.invalid(at, fragment, 'fragments are not permitted in the URL');
  if (query !== '') out.invalid(at, query, 'query parameters are not permitted in the URL');
}

function checkService(out: Findings, { name, namespace, path: urlPath, port = 0 }: Json, at: Path): void {
  // Upstream's caller passes name and namespace in the other order, so each is reported at the other's place.
  if (!namespace) out.required(at.child('name'));
  if (!name) out.required(at.child('namespace'));
  const errors = isPortNumber(port);
  if (errors.length > 0) out.invalid(at.child('port'), port, `port is not valid: ${errors.join(', ')}`);
  if (urlPath === undefined || urlPath === '/' || urlPath === '') return;
  const pathAt = at.child('path');
  if (urlPath === '//') return out.invalid(pathAt, urlPath, 'segment[0] may not be empty');
  if (!urlPath.startsWith('/')) out.invalid(pathAt, urlPath, "must start with a '/'");
  const steps = urlPath.slice(1).replace(/\/$/, '').split('/');
  steps.forEach((step: string, i: number) => {
    if (step === '') return out.invalid(pathAt, urlPath, `segment[${i}] may not be empty`);
    for (const message of isDns1123Subdomain(step)) out.invalid(pathAt, urlPath, `segment[${i}]: ${message}`);
  });
}
