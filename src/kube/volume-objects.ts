import type * as core from './generated/core-v1.ts';
import type * as storage from './generated/storage-v1.ts';
import type { KubeObject } from './object.ts';

/** The recorded fields on objects as they are read. */
type Stored<T> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> & KubeObject;

export type PersistentVolume = Stored<core.PersistentVolume>;
export type PersistentVolumeClaim = Stored<core.PersistentVolumeClaim>;
export type StorageClass = Stored<storage.StorageClass>;
