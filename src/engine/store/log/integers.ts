/** Revisions and lengths outgrow 32 bits and stay below 2^53: eight bytes, little-endian, without a detour over BigInt. */
export function writeUint64(into: Buffer, value: number, offset: number): void {
  into.writeUInt32LE(value % 2 ** 32, offset);
  into.writeUInt32LE(Math.floor(value / 2 ** 32), offset + 4);
}

export function readUint64(from: Buffer, offset: number): number {
  return from.readUInt32LE(offset) + from.readUInt32LE(offset + 4) * 2 ** 32;
}
