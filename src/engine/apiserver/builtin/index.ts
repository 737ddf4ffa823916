export { bootstrapObjects, type BootstrapOptions } from './bootstrap.ts';
export { builtinResources, type BuiltinOptions } from './resources.ts';
export { readRecorded, readRecordedJson, recordedFiles } from './recorded.ts';
export { ServiceAllocator, type ServiceAllocatorOptions } from './service-allocator.ts';
