import { type FileSystem, type OpenFile, removeIfThere } from '../files/file-system.ts';
import { segmentName } from './file-names.ts';
import { encodeSegmentHeader, type SegmentHeader } from './segment-header.ts';

/** Makes a segment durable under its name. What an earlier attempt left there goes first. */
export async function createSegment(fileSystem: FileSystem, directory: string, header: SegmentHeader): Promise<OpenFile> {
  const path = `${directory}/${segmentName(header.number)}`;
  await removeIfThere(fileSystem, path);
  const file = await fileSystem.open(path, 'createLog');
  try {
    await file.write([encodeSegmentHeader(header)], 0);
    await file.datasync();
    await fileSystem.syncDirectory(directory);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
