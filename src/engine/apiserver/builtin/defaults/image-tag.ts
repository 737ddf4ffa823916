const COMPONENT = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const HOST = '(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\\[[0-9A-Fa-f:]+\\])(?::\\d+)?';
const REFERENCE = new RegExp(
  `^(?:${HOST}/)?${COMPONENT}(?:/${COMPONENT})*(?::([\\w][\\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,})?$`,
);

/** Whether an image reference means the tag `latest`: said so, or neither tag nor digest given. False when it is no reference. */
export function isLatest(image: unknown): boolean {
  if (typeof image !== 'string') return false;
  const match = REFERENCE.exec(image);
  if (!match) return false;
  return match[1] === 'latest' || (match[1] === undefined && match[2] === undefined);
}

/** Images whose tag may move are pulled each time. */
export function pullPolicyFor(image: unknown): string {
  return isLatest(image) ? 'Always' : 'IfNotPresent';
}
