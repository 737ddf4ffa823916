import { createHash } from 'node:crypto';
import { isDigest, ManifestError, parseJson, type Platform } from './manifest.ts';

/** The part of an image's configuration that says how to run it. */
export interface ImageConfig {
  entrypoint: string[];
  cmd: string[];
  /** `NAME=value`. */
  env: string[];
  workingDir: string;
  /** As in the image: a name or number, perhaps `:group`. Empty is root. */
  user: string;
  stopSignal?: string;
}

export interface ParsedConfig {
  config: ImageConfig;
  /** Digests of the layers as plain tar, the lowest first. */
  diffIds: string[];
}

/** @throws ManifestError */
export function parseImageConfig(bytes: Uint8Array, wanted: Platform): ParsedConfig {
  const value = parseJson(bytes, 'its configuration');
  checkPlatform(value, wanted);
  const diffIds = (value.rootfs as { diff_ids?: unknown } | undefined)?.diff_ids ?? [];
  if (!Array.isArray(diffIds) || !diffIds.every((id) => typeof id === 'string' && isDigest(id))) {
    throw new ManifestError('its configuration does not name its layers by sha256 digests');
  }
  const run = (value.config ?? {}) as Record<string, unknown>;
  const config: ImageConfig = {
    entrypoint: strings(run.Entrypoint, 'Entrypoint'),
    cmd: strings(run.Cmd, 'Cmd'),
    env: strings(run.Env, 'Env'),
    workingDir: text(run.WorkingDir, 'WorkingDir'),
    user: text(run.User, 'User'),
  };
  const stopSignal = text(run.StopSignal, 'StopSignal');
  return { config: stopSignal === '' ? config : { ...config, stopSignal }, diffIds };
}

/**
 * Names of the stacks that end with each layer. A layer is unpacked with what is below it in view, so the same layer on another base is
 * another folder; on the same base it is shared.
 */
export function chainIds(diffIds: readonly string[]): string[] {
  const chain: string[] = [];
  for (const diffId of diffIds) {
    const below = chain.at(-1);
    chain.push(below === undefined ? diffId : `sha256:${createHash('sha256').update(`${below} ${diffId}`).digest('hex')}`);
  }
  return chain;
}

function checkPlatform(value: Record<string, unknown>, wanted: Platform): void {
  // Both are empty in images made by hand.
  const os = text(value.os, 'os') || wanted.os;
  const architecture = text(value.architecture, 'architecture') || wanted.architecture;
  if (os === wanted.os && architecture === wanted.architecture) return;
  throw new ManifestError(
    `it is built for ${os}/${architecture}, this machine is ${wanted.os}/${wanted.architecture}; choose an image built for it`,
  );
}

function strings(value: unknown, name: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw new ManifestError(`its configuration has a ${name} that is no list of strings`);
  }
  return value;
}

function text(value: unknown, name: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new ManifestError(`its configuration has a ${name} that is no string`);
  return value;
}
