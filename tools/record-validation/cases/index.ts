import type { CaseSet } from '../case.ts';
import { certificates } from './certificates.ts';
import { configuration } from './configuration.ts';
import { mutationsOf } from './mutations.ts';
import { network } from './networking.ts';
import { pods } from './pods.ts';
import { policies } from './policies.ts';
import { storageCases } from './storage.ts';
import { warned } from './warnings.ts';
import { workloads } from './workloads.ts';

const written: Record<string, CaseSet> = {
  certificates,
  configuration,
  network,
  pods,
  policies,
  storage: storageCases,
  warnings: warned,
  workloads,
};

/** By the name of the file they are recorded into. */
export const caseSets: Record<string, CaseSet> = { ...written, mutations: mutationsOf(written) };
