import type { SeccompProfile } from './seccomp-profile.ts';

/** The parts of the OCI runtime specification (config.json) that we write. */
export interface RuntimeConfig {
  ociVersion: string;
  process: ProcessConfig;
  root: { path: string; readonly: boolean };
  hostname: string;
  mounts: MountConfig[];
  linux: LinuxConfig;
}

export interface ProcessConfig {
  terminal: boolean;
  user: { uid: number; gid: number; additionalGids: number[] };
  args: string[];
  env: string[];
  cwd: string;
  capabilities: Record<'bounding' | 'effective' | 'permitted', string[]>;
  noNewPrivileges: boolean;
  oomScoreAdj?: number;
}

export interface MountConfig {
  destination: string;
  type: string;
  source: string;
  options: string[];
}

export interface LinuxConfig {
  cgroupsPath: string;
  namespaces: { type: string; path?: string }[];
  resources: LinuxResources;
  rootfsPropagation?: string;
  seccomp?: SeccompProfile;
  maskedPaths: string[];
  readonlyPaths: string[];
  sysctl?: Record<string, string>;
  devices?: DeviceConfig[];
}

export interface LinuxResources {
  devices: { allow: boolean; access: string }[];
  cpu?: { shares?: number; quota?: number; period?: number };
  memory?: { limit?: number; swap?: number };
  pids: { limit: number };
  unified?: Record<string, string>;
}

export interface DeviceConfig {
  path: string;
  type: 'c' | 'b';
  major: number;
  minor: number;
  fileMode: number;
  uid: number;
  gid: number;
}
