import { parseCidr } from '../../../kube/ip.ts';
import { Quantity } from '../../../kube/quantity.ts';
import { manifest, type PluginManifest } from './plugin-manifest.ts';
import { shapeFindings, type Finding } from './shape-findings.ts';

export type { Finding } from './shape-findings.ts';

/** Everything wrong with a manifest; empty when it is one. Rules between fields are judged once the shape is right. */
export function checkManifest(value: unknown): Finding[] {
  const findings = shapeFindings(value, manifest.schema);
  if (findings.length > 0) return findings;
  const plugin = value as PluginManifest;
  return [
    ...imageRules(plugin),
    ...resourceRules(plugin),
    ...upgradeRules(plugin),
    ...nameRules(plugin),
    ...fileRules(plugin),
    ...reachRules(plugin),
  ];
}

/** The files that a manifest refers to, by path. */
export function filesOf({ spec }: PluginManifest): { path: string; at: (string | number)[] }[] {
  const tools = (spec.mcpTools ?? []).flatMap(({ schema, returnSchema }, index) => [
    { path: schema, at: ['spec', 'mcpTools', index, 'schema'] },
    ...(returnSchema === undefined ? [] : [{ path: returnSchema, at: ['spec', 'mcpTools', index, 'returnSchema'] }]),
  ]);
  return tools;
}

const MUTABLE_TAGS = /^(latest|stable|edge|main|master|dev|nightly|canary|current|release)$/;

function imageRules({ spec: { runtime } }: PluginManifest): Finding[] {
  const path = ['spec', 'runtime', 'image'];
  const [, digest] = runtime.image.split('@');
  const name = runtime.image.split('@')[0];
  const tag = /:([^/:]+)$/.exec(name)?.[1];
  if (!/^[a-z0-9]([a-z0-9._-]*[a-z0-9])?(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+(:[\w][\w.-]{0,127})?$/i.test(name)) {
    return [{ path, message: `"${runtime.image}" is no image; write registry/repository:tag` }];
  }
  if (digest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(digest))
    return [{ path, message: `"${digest}" is no digest; it must be sha256: and 64 hex digits` }];
  if (digest === undefined && tag === undefined)
    return [{ path, message: 'has no tag, which means latest; write the tag of this version' }];
  if (digest === undefined && MUTABLE_TAGS.test(tag!)) {
    return [{ path, message: `the tag "${tag}" moves; write one that names this version, or a digest` }];
  }
  return [];
}

function resourceRules({ spec: { runtime } }: PluginManifest): Finding[] {
  const { requests, limits } = runtime.resources;
  const over = (['cpu', 'memory'] as const).filter((name) => Quantity.parse(requests[name]).compare(Quantity.parse(limits[name])) > 0);
  const findings: Finding[] = over.map((name) => ({
    path: ['spec', 'runtime', 'resources', 'requests', name],
    message: `${requests[name]} is more than the limit ${limits[name]}`,
  }));
  const { min = 1, max } = runtime.replicas ?? {};
  if (max !== undefined && max < min)
    findings.push({ path: ['spec', 'runtime', 'replicas', 'max'], message: `${max} is less than min ${min}` });
  return findings;
}

function upgradeRules({ spec: { runtime } }: PluginManifest): Finding[] {
  const { strategy = 'rolling', canarySteps } = runtime.upgrade ?? {};
  const path = ['spec', 'runtime', 'upgrade', 'canarySteps'];
  if (!canarySteps) return strategy === 'canary' ? [{ path, message: 'required with strategy "canary", but missing' }] : [];
  if (strategy !== 'canary') return [{ path, message: `belongs to strategy "canary", but the strategy is "${strategy}"` }];
  const findings: Finding[] = [];
  for (const [index, { weight }] of canarySteps.entries()) {
    const before = canarySteps[index - 1]?.weight ?? 0;
    if (weight <= before)
      findings.push({ path: [...path, index, 'weight'], message: `${weight} is not more than the ${before} before it` });
  }
  const last = canarySteps.at(-1)!;
  if (last.weight !== 100)
    findings.push({ path: [...path, canarySteps.length - 1, 'weight'], message: `the last weight is 100, found ${last.weight}` });
  return findings;
}

function nameRules({ spec }: PluginManifest): Finding[] {
  const lists: [string, { name: string }[]][] = [
    ['mcpTools', spec.mcpTools ?? []],
    ['secrets', spec.secrets ?? []],
  ];
  return lists.flatMap(([field, items]) => {
    const seen = new Set<string>();
    return items.flatMap(({ name }, index): Finding[] => {
      if (seen.has(name)) return [{ path: ['spec', field, index, 'name'], message: `"${name}" is there twice` }];
      seen.add(name);
      return [];
    });
  });
}

/** What a Pod or a NetworkPolicy would be refused for, long after the plugin was published. */
function reachRules({ spec }: PluginManifest): Finding[] {
  const variables = Object.keys(spec.runtime.env ?? {})
    .filter((name) => !/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(name))
    .map((name) => ({ path: ['spec', 'runtime', 'env', name], message: 'is no name of a variable; use letters, digits and _' }));
  const addresses = (spec.egress?.cidrs ?? []).flatMap(({ cidr }, index) =>
    parseCidr(cidr)
      ? []
      : [{ path: ['spec', 'egress', 'cidrs', index, 'cidr'], message: `"${cidr}" is no range of addresses such as 192.0.2.0/24` }],
  );
  return [...variables, ...addresses];
}

function fileRules(plugin: PluginManifest): Finding[] {
  const { migrations } = plugin.spec.database ?? {};
  const wrong = (migrations?.contract ?? []).flatMap((file, index) =>
    file.startsWith(`${migrations!.path}/`) || !file.includes('/')
      ? []
      : [{ path: ['spec', 'database', 'migrations', 'contract', index], message: `"${file}" is not in ${migrations!.path}` }],
  );
  return wrong;
}
