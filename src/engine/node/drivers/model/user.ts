import { ContainerError, type ContainerSpec } from '../driver.ts';

export interface ProcessUser {
  uid: number;
  gid: number;
  additionalGids: number[];
}

interface PasswdEntry {
  name: string;
  uid: number;
  gid: number;
}

interface GroupEntry {
  name: string;
  gid: number;
  members: string[];
}

const LARGEST_ID = 2 ** 31 - 1;

/** Refuses what would run as root, or may, although the Pod forbids it. The texts are the kubelet's. */
export function refuseRoot({ user, pod, name }: Pick<ContainerSpec, 'user' | 'pod' | 'name'>, imageUser: string): void {
  if (!user.mustNotBeRoot) return;
  const where = `(pod: "${pod.name}_${pod.namespace}(${pod.uid})", container: ${name})`;
  const refuse = (what: string): never => {
    throw new ContainerError('CreateContainerConfigError', `${what} ${where}`);
  };
  if (user.uid !== undefined) {
    if (user.uid === 0) refuse("container's runAsUser breaks non-root policy");
    return;
  }
  const [nameOrUid = ''] = imageUser.split(':');
  if (nameOrUid !== '' && !isNumber(nameOrUid))
    refuse(`container has runAsNonRoot and image has non-numeric user (${nameOrUid}), cannot verify user is non-root`);
  if (Number(nameOrUid) === 0) refuse('container has runAsNonRoot and image will run as root');
  if (Number(nameOrUid) > LARGEST_ID)
    refuse(
      `container has runAsNonRoot and image has an invalid user id (${nameOrUid}). (Must be 1-(${LARGEST_ID})): must be between 0 and ${LARGEST_ID}, inclusive`,
    );
}

/** Whom the process runs as: the Pod's word, else the image's; names and groups are looked up in the image's own files. */
export function processUser(asked: ContainerSpec['user'], imageUser: string, passwd: string, group: string): ProcessUser {
  const users = parsePasswd(passwd);
  const groups = parseGroup(group);
  const [imageName = '', imageGroup = ''] = imageUser.split(':');
  const entry = asked.uid === undefined ? imageEntry(users, imageName) : entryOf(users, asked.uid);
  const gid = asked.gid ?? (asked.uid === undefined && imageGroup !== '' ? groupId(groups, imageGroup) : entry.gid);
  const memberships = entry.name === '' ? [] : groups.filter(({ members }) => members.includes(entry.name)).map((each) => each.gid);
  // The primary group is among the additional ones too, as in other runtimes: a process that drops groups then keeps none of them.
  return { uid: entry.uid, gid, additionalGids: [...new Set([gid, ...memberships, ...asked.groups])].sort((a, b) => a - b) };
}

function imageEntry(users: PasswdEntry[], nameOrUid: string): PasswdEntry {
  if (nameOrUid === '') return entryOf(users, 0);
  if (isNumber(nameOrUid)) return entryOf(users, Number(nameOrUid));
  const found = users.find(({ name }) => name === nameOrUid);
  if (!found) throw new ContainerError('CreateContainerError', `unable to find user ${nameOrUid}: no matching entries in passwd file`);
  return found;
}

function entryOf(users: PasswdEntry[], uid: number): PasswdEntry {
  return users.find((user) => user.uid === uid) ?? { name: '', uid, gid: 0 };
}

function groupId(groups: GroupEntry[], nameOrGid: string): number {
  if (isNumber(nameOrGid)) return Number(nameOrGid);
  const found = groups.find(({ name }) => name === nameOrGid);
  if (!found) throw new ContainerError('CreateContainerError', `unable to find group ${nameOrGid}: no matching entries in group file`);
  return found.gid;
}

function parsePasswd(text: string): PasswdEntry[] {
  return fieldsOf(text).map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}

function parseGroup(text: string): GroupEntry[] {
  return fieldsOf(text).map(([name = '', , gid, members = '']) => ({ name, gid: Number(gid), members: members.split(',') }));
}

/** Lines whose third field is a number: the only ones that say something. */
function fieldsOf(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.trim().split(':'))
    .filter((fields) => isNumber(fields[2] ?? ''));
}

function isNumber(text: string): boolean {
  return /^\d{1,10}$/.test(text);
}
