import { dirname } from 'node:path';
import { ContainerError, type ContainerSpec, type ExecSpec, type Mount } from '../driver.ts';
import { commandLine, environment } from '../model/command.ts';
import { refuseRoot } from '../model/user.ts';
import type { ContainerFolder } from './container-folder.ts';
import { sandboxCommand, type SystemPath } from './model/bubblewrap.ts';
import { commandChain, dropPrivileges, enterNetwork, enterSandbox, leadTerminal } from './model/command-chain.ts';
import { containerUser, type ContainerUser } from './model/container-user.ts';
import { insideSandbox, withoutSandbox, type ToMachine } from './model/visible-paths.ts';
import type { SandboxTools } from './sandbox-tools.ts';

/** Everything decided about a container, from what the Pod says and what this machine offers. Kept on disk for `exec`. */
export interface ContainerPlan {
  env: Record<string, string>;
  command: string[];
  workingDir: string;
  mounts: Mount[];
  /** Of the machine; absent: it runs as we do. */
  user?: ContainerUser;
  /** In its own user namespace it believes to be somebody. */
  apparentUser?: { uid: number; gid: number };
  hostname: string;
  hostIpc: boolean;
  readOnlyRoot: boolean;
  processes?: number;
  networkNamespace?: string;
}

/** @throws ContainerError when this driver cannot give what the Pod asks for */
export function planContainer(spec: ContainerSpec, tools: SandboxTools, folder: ContainerFolder): ContainerPlan {
  refuseWhatIsMissing(spec, tools);
  const sandboxed = tools.bwrap !== undefined;
  const user = tools.isRoot && tools.setpriv !== undefined ? containerUser(spec) : undefined;
  const image = spec.image.config;
  const uid = user?.uid ?? (tools.isRoot ? 0 : (spec.user.uid ?? process.getuid!()));
  refuseRoot({ ...spec, user: { ...spec.user, uid } }, '');
  const given = Object.fromEntries(environment(spec, image, dirname(process.execPath)).map(splitVariable));
  return {
    env: { ...placesFor(tools, folder), ...given },
    command: commandLine(spec, image),
    workingDir: spec.workingDir || image.workingDir || '/',
    mounts: spec.mounts,
    user,
    apparentUser: sandboxed && !tools.isRoot ? apparentUser(spec) : undefined,
    hostname: spec.hostname,
    hostIpc: spec.security.hostIpc,
    readOnlyRoot: spec.security.readOnlyRoot,
    // Otherwise the kernel would count everything that our user runs.
    processes: sandboxed || user !== undefined ? spec.limits.pids : undefined,
    networkNamespace: spec.networkNamespace,
  };
}

/** Where it finds what others find at well-known paths. */
function placesFor({ bwrap }: SandboxTools, folder: ContainerFolder): Record<string, string> {
  if (bwrap !== undefined) return { HOME: '/tmp' };
  return { HOME: folder.temporary, TMPDIR: folder.temporary, TENANTRY_ROOT: folder.root };
}

function splitVariable(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

function apparentUser({ user }: ContainerSpec): { uid: number; gid: number } {
  return { uid: user.uid ?? process.getuid!(), gid: user.gid ?? process.getgid!() };
}

function refuseWhatIsMissing({ security, networkNamespace }: ContainerSpec, { nsenter, bwrap }: SandboxTools): void {
  const refuse = (what: string): never => {
    throw new ContainerError(
      'CreateContainerError',
      `Cannot ${what}: this node runs processes without a container runtime; run tenantry as root with runc or crun`,
    );
  };
  if (security.privileged) refuse('run a privileged container');
  if (security.hostPid && bwrap !== undefined) refuse("share the machine's processes");
  if (networkNamespace !== undefined && nsenter === undefined) refuse('enter a network namespace (nsenter is missing)');
}

export interface Surroundings {
  tools: SandboxTools;
  folder: ContainerFolder;
  system: SystemPath[];
  cgroupFiles: readonly string[];
}

/** Where the container's paths are on the machine. */
export function machinePaths({ mounts }: ContainerPlan, { tools, system, folder }: Surroundings): ToMachine {
  if (tools.bwrap === undefined) return withoutSandbox(mounts);
  const temporary = { source: folder.temporary, target: '/tmp', readOnly: false };
  return insideSandbox(
    [temporary, ...mounts],
    system.filter(({ kind }) => kind !== 'hidden').map(({ path }) => path),
  );
}

/** Whether a program with a terminal has to become its leader inside of the sandbox. */
export function leadsTerminal({ bwrap, setsid }: SandboxTools, terminal: boolean): boolean {
  return terminal && bwrap !== undefined && setsid !== undefined;
}

export function startCommand(plan: ContainerPlan, surroundings: Surroundings, terminal: boolean): string[] {
  const { tools, folder, system, cgroupFiles } = surroundings;
  const { networkNamespace, user, apparentUser } = plan;
  const network = networkNamespace === undefined ? [] : enterNetwork(tools.nsenter!, networkNamespace);
  const sandbox =
    tools.bwrap === undefined
      ? []
      : sandboxCommand({
          ...plan,
          bwrap: tools.bwrap,
          user: apparentUser,
          system,
          temporary: plan.readOnlyRoot ? undefined : folder.temporary,
          sharedMemory: folder.sharedMemory,
        });
  const drop = user === undefined ? [] : dropPrivileges(tools.setpriv!, user);
  const lead = leadsTerminal(tools, terminal) ? leadTerminal(tools.setsid!) : [];
  return commandChain({
    environmentFile: folder.environment,
    cgroupFiles,
    tools: [...network, ...sandbox, ...drop, ...lead],
    inner: { ...shellOf(plan, surroundings), saysWhenReady: true, command: commandOf(plan, surroundings, plan.command) },
  });
}

/** @param main the container's main process, as the machine numbers it */
export function execCommand(plan: ContainerPlan, surroundings: Surroundings, main: number, { command, terminal }: ExecSpec): string[] {
  const { tools, folder, cgroupFiles } = surroundings;
  const { networkNamespace, user, apparentUser } = plan;
  const network = networkNamespace === undefined ? [] : enterNetwork(tools.nsenter!, networkNamespace);
  const enter =
    tools.bwrap === undefined
      ? network
      : enterSandbox(tools.nsenter!, main, { ownUserNamespace: apparentUser !== undefined, network: networkNamespace !== undefined });
  const drop = user === undefined ? [] : dropPrivileges(tools.setpriv!, user);
  const lead = leadsTerminal(tools, terminal) ? leadTerminal(tools.setsid!) : [];
  return commandChain({
    environmentFile: folder.environment,
    cgroupFiles,
    tools: [...enter, ...drop, ...lead],
    inner: { ...shellOf(plan, surroundings), saysWhenReady: false, command: commandOf(plan, surroundings, command) },
  });
}

function shellOf(plan: ContainerPlan, surroundings: Surroundings) {
  // Without a sandbox a working directory in a volume is where the volume really is.
  const workingDir = surroundings.tools.bwrap === undefined ? machinePaths(plan, surroundings)(plan.workingDir)! : plan.workingDir;
  return { limits: { processes: plan.processes }, workingDir };
}

function commandOf(plan: ContainerPlan, surroundings: Surroundings, [program, ...rest]: string[]): string[] {
  const isElsewhere = surroundings.tools.bwrap === undefined && program.startsWith('/');
  return [isElsewhere ? machinePaths(plan, surroundings)(program)! : program, ...rest];
}
