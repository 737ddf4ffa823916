import type { Command } from 'commander';
import type { Session } from '../cli/terminal/session.ts';

/** Nothing of what talks to a cluster is loaded before a command needs it. */
export async function inSession(flags: object, work: (session: Session) => Promise<number>): Promise<void> {
  await (await import('./krt-session.ts')).inSession(flags, work);
}

export const collect = (value: string, before: string[] = []): string[] => [...before, value];
export const FORMATS = 'table, wide, json, yaml, name or jsonpath=<template>';
export const noWait = (command: Command): Command => command.option('--no-wait', 'do not wait until it is done');

/** Which cluster, namespace and user; as kubectl has them. */
export function addClusterOptions(command: Command): Command {
  return command
    .option('-n, --namespace <namespace>', 'namespace to act in (default: that of the kubeconfig, else default)')
    .option('--kubeconfig <file>', 'the kubeconfig to use (default: $KUBECONFIG, ~/.kube/config, or the instance of this machine)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--data <dir>', 'use the instance with this data directory')
    .option('-s, --server <url>', 'address of the API server')
    .option('--token <token>', 'bearer token to be known by')
    .option('--as <user>', 'act as this user')
    .option('--as-group <group>', 'act as a member of this group; can be repeated', collect)
    .option('--as-uid <uid>', 'act with this UID')
    .option('--cluster <name>', 'cluster of the kubeconfig')
    .option('--user <name>', 'user of the kubeconfig')
    .option('--certificate-authority <file>', 'whom the certificate of the API server must be from')
    .option('--client-certificate <file>', 'certificate to be known by')
    .option('--client-key <file>', 'its key')
    .option('--tls-server-name <name>', 'name that the certificate of the API server must have')
    .option('--insecure-skip-tls-verify', 'believe any certificate of the API server');
}
