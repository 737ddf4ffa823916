import type { Attributes } from './span.ts';

/** Where spans go, as the environment variables of OpenTelemetry say it. */
export interface ExporterSettings {
  /** Of the traces: the whole address. */
  url: string;
  headers: Record<string, string>;
  resource: Attributes;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @param endpoint said by a flag; goes before the environment
 * @returns undefined when nobody wants spans
 */
export function exporterSettings(environment: Environment, service: string, endpoint?: string): ExporterSettings | undefined {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || environment.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const whole = endpoint === undefined ? environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT : undefined;
  const base = endpoint ?? environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  const said = whole || base;
  if (!said) return undefined;
  const url = httpUrl(said);
  if (!whole) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return {
    url: url.href,
    headers: pairsOf(environment.OTEL_EXPORTER_OTLP_TRACES_HEADERS || environment.OTEL_EXPORTER_OTLP_HEADERS),
    resource: { ...pairsOf(environment.OTEL_RESOURCE_ATTRIBUTES), 'service.name': environment.OTEL_SERVICE_NAME || service },
  };
}

function httpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new Error(`Cannot send traces to "${text}": it is not an address of OTLP over HTTP; give one like http://127.0.0.1:4318`);
}

/** `a=1,b=two%20words`, as the specification of OpenTelemetry writes headers and attributes. */
function pairsOf(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at <= 0 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
