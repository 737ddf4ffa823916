import { X509Certificate } from 'node:crypto';
import type { FieldError } from '../../../kube/field-error.ts';
import { isDns1035Label, isDns1123Subdomain } from '../../../kube/names.ts';
import { isPortNumber } from '../../../kube/ports.ts';
import { certificateBlocks } from '../../../lib/pki/pem.ts';
import { child, forbiddenValue, index, invalidValue, requiredValue, unsupportedValue } from '../schema/findings.ts';
import type { Conversion, WebhookClientConfig } from './definition.ts';

export interface ConversionDemands {
  /** One of the review versions must be one that the server speaks. */
  recognizedReview: boolean;
  invalidCaBundleAllowed: boolean;
}

const REVIEW_VERSIONS = ['v1', 'v1beta1'];

export function checkConversion(conversion: Conversion | undefined, path: string, demands: ConversionDemands): FieldError[] {
  if (conversion === undefined || conversion === null) return [];
  const found: FieldError[] = [];
  const strategy = conversion.strategy ?? '';
  if (strategy === '') found.push(requiredValue(child(path, 'strategy')));
  else if (strategy !== 'None' && strategy !== 'Webhook') {
    found.push(unsupportedValue(child(path, 'strategy'), strategy, ['None', 'Webhook']));
  }
  const config = conversion.webhook?.clientConfig ?? undefined;
  const configPath = child(path, 'webhookClientConfig');
  const reviewsPath = child(path, 'conversionReviewVersions');
  const reviews = conversion.webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (config !== undefined) found.push(forbiddenValue(configPath, detail));
    if (reviews.length > 0) found.push(forbiddenValue(reviewsPath, detail));
    return found;
  }
  if (config === undefined) found.push(requiredValue(configPath, 'required when strategy is set to Webhook'));
  else found.push(...checkClientConfig(config, configPath, demands));
  return [...found, ...checkReviewVersions(reviews, reviewsPath, demands.recognizedReview)];
}

function checkClientConfig(config: WebhookClientConfig, path: string, demands: ConversionDemands): FieldError[] {
  const found: FieldError[] = [];
  const url = config.url ?? undefined;
  const service = config.service ?? undefined;
  if ((url === undefined) === (service === undefined)) found.push(requiredValue(path, 'exactly one of url or service is required'));
  else if (url !== undefined) found.push(...checkWebhookUrl(url, child(path, 'url')));
  else if (service !== undefined) found.push(...checkWebhookService(service, child(path, 'service')));
  if (config.caBundle && !demands.invalidCaBundleAllowed && !isCaBundle(config.caBundle)) {
    const detail = 'unable to load root certificates: unable to parse bytes as PEM block';
    found.push(invalidValue(child(path, 'caBundle'), config.caBundle, detail));
  }
  return found;
}

const URL_FORM = '; desired format: https://host[/path]';

export function checkWebhookUrl(text: string, path: string): FieldError[] {
  const match = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  // oxlint-disable-next-line no-control-regex -- Go refuses control characters in URLs
  if (match === null || /[\u0000-\u001f\u007f]/.test(text)) {
    const reason = `parse ${JSON.stringify(text)}: net/url: invalid control character in URL`;
    return [requiredValue(path, `url must be a valid URL: ${reason}${URL_FORM}`)];
  }
  const [, scheme = '', authority = '', , query = '', fragment = ''] = match;
  const found: FieldError[] = [];
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  if (scheme.toLowerCase() !== 'https') {
    found.push(invalidValue(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${URL_FORM}`));
  }
  if (host === '') found.push(invalidValue(path, host, `host must be specified${URL_FORM}`));
  if (at >= 0) found.push(invalidValue(path, authority.slice(0, at), 'user information is not permitted in the URL'));
  if (fragment !== '') found.push(invalidValue(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') found.push(invalidValue(path, query, 'query parameters are not permitted in the URL'));
  return found;
}

export function checkWebhookService(service: NonNullable<WebhookClientConfig['service']>, path: string): FieldError[] {
  const found: FieldError[] = [];
  // Upstream hands name and namespace to the check in the wrong order; when both are missing nobody can tell.
  if (!service.namespace) found.push(requiredValue(child(path, 'name')));
  if (!service.name) found.push(requiredValue(child(path, 'namespace')));
  const port = service.port ?? 443;
  const complaints = isPortNumber(port);
  if (complaints.length > 0) found.push(invalidValue(child(path, 'port'), port, `port is not valid: ${complaints.join(', ')}`));
  const urlPath = service.path ?? undefined;
  if (urlPath === undefined || urlPath === '/' || urlPath === '') return found;
  return [...found, ...checkServicePath(urlPath, child(path, 'path'))];
}

function checkServicePath(urlPath: string, path: string): FieldError[] {
  if (urlPath === '//') return [invalidValue(path, urlPath, 'segment[0] may not be empty')];
  const found: FieldError[] = [];
  if (!urlPath.startsWith('/')) found.push(invalidValue(path, urlPath, "must start with a '/'"));
  for (const [at, step] of urlPath.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (step === '') found.push(invalidValue(path, urlPath, `segment[${at}] may not be empty`));
    else for (const failure of isDns1123Subdomain(step)) found.push(invalidValue(path, urlPath, `segment[${at}]: ${failure}`));
  }
  return found;
}

/** True when base64 text holds at least one certificate in PEM. */
export function isCaBundle(base64: string): boolean {
  const pem = Buffer.from(base64, 'base64').toString('utf8');
  const [block] = certificateBlocks(pem);
  if (block === undefined) return false;
  try {
    void new X509Certificate(block).publicKey;
    return true;
  } catch {
    return false;
  }
}

function checkReviewVersions(versions: string[], path: string, recognized: boolean): FieldError[] {
  if (versions.length === 0) return [requiredValue(path)];
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [at, version] of versions.entries()) {
    if (seen.has(version)) found.push(invalidValue(index(path, at), version, 'duplicate version'));
    else for (const complaint of isDns1035Label(version)) found.push(invalidValue(index(path, at), version, complaint));
    seen.add(version);
  }
  if (recognized && !hasKnownReview(versions)) {
    found.push(invalidValue(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return found;
}

export function hasKnownReview(versions: readonly string[]): boolean {
  return versions.some((version) => REVIEW_VERSIONS.includes(version));
}
