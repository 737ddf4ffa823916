import { boolean, integer, list, mapOf, object, oneOf, quantity, text, type SchemaSource, type ValueOf } from '../../schema-source.ts';

/**
 * `plugin.yaml`, the one source of its type, of what is refused, and of the JSON Schema for editors. Field names that the format's own
 * documentation does not give (secrets, egress, storage, request rate, migrations) are as a Kubernetes user would guess them.
 */
export const MANIFEST_API_VERSION = 'adapstory.com/v1';

const KEBAB = '^[a-z]([a-z0-9]|-[a-z0-9])*$';
const SEMVER =
  '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(\\.(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\\+[0-9a-zA-Z-]+(\\.[0-9a-zA-Z-]+)*)?$';
const EVENT_TYPE = '^[a-z][a-z0-9]*(-[a-z0-9]+)*(\\.[a-z][a-z0-9]*(-[a-z0-9]+)*)+\\.v[1-9]\\d*$';
/** Inside the folder of the manifest: no way up, none from the root. */
export const RELATIVE_PATH = '^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$';
/** As it stands in a request line. */
const URL_PATH = "^/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*$";
const DURATION = '^[0-9]+(ms|s|m|h)$';
const RATE = '^[1-9][0-9]*/(second|minute|hour|day)$';

const port = integer({ minimum: 1, maximum: 65_535 });
const share: SchemaSource<number> = { schema: { type: 'number', minimum: 0, maximum: 1 } };
const amounts = object({ cpu: quantity(), memory: quantity() }, {});
const name = text({ pattern: KEBAB, minLength: 1, maxLength: 63 });

const upgrade = object(
  {},
  {
    strategy: oneOf(['canary', 'blueGreen', 'rolling'], { default: 'rolling' }),
    canarySteps: list(
      object({ weight: integer({ minimum: 1, maximum: 100 }) }, { pauseSeconds: integer({ minimum: 0, maximum: 86_400 }) }),
      {
        minItems: 1,
        maxItems: 20,
      },
    ),
    healthGate: object({}, { slo: object({}, { errorRate: share, p99LatencyMs: integer({ minimum: 1 }) }) }),
  },
);

const runtime = object(
  { image: text({ minLength: 1, maxLength: 512 }), resources: object({ requests: amounts, limits: amounts }, { storage: quantity() }) },
  {
    imagePullSecret: text({ pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$', maxLength: 253 }),
    command: list(text({ maxLength: 4096 }), { maxItems: 100 }),
    args: list(text({ maxLength: 4096 }), { maxItems: 100 }),
    env: mapOf(text({ maxLength: 4096 }), { maxProperties: 100 }),
    replicas: object(
      {},
      {
        min: integer({ minimum: 1, maximum: 100, default: 1 }),
        max: integer({ minimum: 1, maximum: 100 }),
        targetCPUUtilization: integer({ minimum: 1, maximum: 100, default: 70 }),
      },
    ),
    startupProbe: object(
      { path: text({ pattern: URL_PATH, maxLength: 512 }), port },
      {
        periodSeconds: integer({ minimum: 1, maximum: 300, default: 5 }),
        failureThreshold: integer({ minimum: 1, maximum: 600, default: 12 }),
      },
    ),
    /** Requests that the gateway lets through. */
    requestRate: object({}, { perTenant: text({ pattern: RATE }), perUser: text({ pattern: RATE }) }),
    upgrade,
  },
);

const tool = object(
  {
    name: text({ pattern: '^[a-z][a-z0-9_-]*$', maxLength: 64 }),
    description: text({ minLength: 1, maxLength: 1024 }),
    endpoint: text({ pattern: URL_PATH, maxLength: 512 }),
    schema: text({ pattern: RELATIVE_PATH, maxLength: 255 }),
  },
  {
    returnSchema: text({ pattern: RELATIVE_PATH, maxLength: 255 }),
    streaming: boolean({ default: false }),
    timeout: text({ pattern: DURATION, default: '15s' }),
    rateLimit: object({}, { perTenant: text({ pattern: RATE }), perUser: text({ pattern: RATE }) }),
  },
);

/** One key of the secret backend, given to the plugin as a file and, with `env`, as a variable. */
const secret = object(
  { name },
  {
    /** Below `adapstory/plugins/<plugin>/<tenant>/`; the name when absent. */
    path: text({ pattern: RELATIVE_PATH, maxLength: 255 }),
    /** Which property of it; all when absent. */
    property: text({ pattern: '^[-._a-zA-Z0-9]+$', maxLength: 253 }),
    env: text({ pattern: '^[A-Z_][A-Z0-9_]*$', maxLength: 128 }),
    optional: boolean({ default: false }),
  },
);

const egress = object(
  {},
  {
    /** Parts of the platform by name. */
    to: list(oneOf(['gateway', 'kafka', 'data-model', 'otlp']), { maxItems: 4 }),
    /** Addresses outside. */
    cidrs: list(object({ cidr: text({ maxLength: 43 }), ports: list(port, { minItems: 1, maxItems: 20 }) }, {}), { maxItems: 20 }),
  },
);

const migrations = object(
  {
    /** The folder with `<number>_<name>.sql`, applied once each, in order. */
    path: text({ pattern: RELATIVE_PATH, maxLength: 255 }),
  },
  {
    /** Files that take away what the last known-good version no longer uses. After them there is no way back past this version. */
    contract: list(text({ pattern: RELATIVE_PATH, maxLength: 255 }), { maxItems: 100 }),
  },
);

const spec = object(
  { runtime },
  {
    mcpTools: list(tool, { maxItems: 100 }),
    events: object(
      {},
      {
        consumes: list(text({ pattern: EVENT_TYPE, maxLength: 128 }), { maxItems: 100 }),
        produces: list(text({ pattern: EVENT_TYPE, maxLength: 128 }), { maxItems: 100 }),
        dlqStrategy: text({ pattern: '^(none|retry-[0-9]{1,2}-then-dlq)$', default: 'retry-5-then-dlq' }),
      },
    ),
    dataModels: object({}, { extends: list(text({ pattern: '^[a-z0-9]+\\.[a-z][a-z0-9_-]*$', maxLength: 128 }), { maxItems: 100 }) }),
    llm: object({}, { gatewayBudget: integer({ minimum: 0, format: 'int64' }), defaultModel: text({ maxLength: 128 }) }),
    guardrails: object({}, { content: list(text({ pattern: KEBAB, maxLength: 64 }), { maxItems: 50 }) }),
    permissions: list(text({ pattern: '^[a-z][a-z0-9-]*\\.(read|write)$', maxLength: 128 }), { maxItems: 100 }),
    secrets: list(secret, { maxItems: 50 }),
    egress,
    database: object({}, { connectionLimit: integer({ minimum: 1, maximum: 100, default: 10 }), migrations }),
  },
);

export const manifest = object(
  {
    apiVersion: oneOf([MANIFEST_API_VERSION]),
    kind: oneOf(['Plugin']),
    metadata: object(
      {
        name,
        version: text({ pattern: SEMVER, maxLength: 64 }),
        publisher: text({ pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$', maxLength: 40 }),
      },
      {
        displayName: text({ maxLength: 140 }),
        description: text({ maxLength: 139 }),
        tags: list(text({ minLength: 1, maxLength: 64 }), { maxItems: 50 }),
      },
    ),
    spec,
  },
  {},
);

export type PluginManifest = ValueOf<typeof manifest>;
