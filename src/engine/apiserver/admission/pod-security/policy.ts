import { invalid, type FieldError } from '../../../../kube/field-error.ts';

export type Level = 'privileged' | 'baseline' | 'restricted';

/** A level as of a Kubernetes 1.x minor; `latest` is Infinity, newer than every release. */
export interface LevelVersion {
  level: Level;
  minor: number;
}

export interface Policy {
  enforce: LevelVersion;
  audit: LevelVersion;
  warn: LevelVersion;
}

export const LATEST = Infinity;
export const LABEL_PREFIX = 'pod-security.kubernetes.io/';
const LEVELS: readonly Level[] = ['privileged', 'baseline', 'restricted'];

export const PRIVILEGED_POLICY: Policy = {
  enforce: { level: 'privileged', minor: LATEST },
  audit: { level: 'privileged', minor: LATEST },
  warn: { level: 'privileged', minor: LATEST },
};

export function levelVersionText({ level, minor }: LevelVersion): string {
  return `${level}:${minor === LATEST ? 'latest' : `v1.${minor}`}`;
}

export function sameLevelVersion(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.minor === b.minor;
}

export function isFullyPrivileged(policy: Policy): boolean {
  return policy.enforce.level === 'privileged' && policy.audit.level === 'privileged' && policy.warn.level === 'privileged';
}

/** Positive when `a` is the stricter one. */
export function compareLevels(a: Level, b: Level): number {
  return LEVELS.indexOf(a) - LEVELS.indexOf(b);
}

/** The policy a namespace asks for. Unreadable enforce labels close (restricted), unreadable audit and warn labels open. */
export function policyFromLabels(labels: Record<string, string> = {}, defaults: Policy): { policy: Policy; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const policy: Policy = { enforce: { ...defaults.enforce }, audit: { ...defaults.audit }, warn: { ...defaults.warn } };
  let enforceIsGiven = false;
  for (const mode of ['enforce', 'audit', 'warn'] as const) {
    const level = labels[LABEL_PREFIX + mode];
    if (level !== undefined) {
      const known = LEVELS.includes(level as Level);
      policy[mode].level = known ? (level as Level) : mode === 'enforce' ? 'restricted' : 'privileged';
      if (mode === 'enforce') enforceIsGiven = known;
      if (!known) errors.push(invalidLabel(mode, level, `must be one of ${LEVELS.join(', ')}`));
    }
    const version = labels[`${LABEL_PREFIX}${mode}-version`];
    if (version !== undefined) {
      const minor = parseVersion(version);
      policy[mode].minor = minor ?? LATEST;
      if (minor === undefined) errors.push(invalidLabel(`${mode}-version`, version, 'must be "latest" or "v1.x"'));
    }
  }
  defaultWarnToEnforce(policy, labels, enforceIsGiven);
  return { policy, errors };
}

/** Whoever enforces a level without a word about warnings gets warned on workloads whose pods would be refused. */
function defaultWarnToEnforce(policy: Policy, labels: Record<string, string>, enforceIsGiven: boolean): void {
  if (labels[`${LABEL_PREFIX}warn`] !== undefined || !enforceIsGiven) return;
  if (compareLevels(policy.enforce.level, policy.warn.level) <= 0) return;
  policy.warn.level = policy.enforce.level;
  if (labels[`${LABEL_PREFIX}warn-version`] === undefined) policy.warn.minor = policy.enforce.minor;
}

function parseVersion(text: string): number | undefined {
  if (text === 'latest') return LATEST;
  const match = /^v1\.(0|[1-9][0-9]*)$/.exec(text);
  return match ? Number(match[1]) : undefined;
}

function invalidLabel(name: string, value: string, detail: string): FieldError {
  return invalid(`metadata.labels[${LABEL_PREFIX}${name}]`, value, detail);
}
