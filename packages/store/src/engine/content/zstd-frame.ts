// Reads how much a zstd frame expands to, before any memory is allocated for it. The decoder believes the frame, and a
// frame of 40 KB can ask for hundreds of megabytes.

const MAGIC = 0xfd2fb528;
const BLOCK_HEADER_BYTES = 3;
const CHECKSUM_BYTES = 4;

/**
 * Returns the size that the data expands to. Undefined unless it is exactly one frame that declares its size, as ours
 * do: the decoder adds up the sizes of several frames.
 */
export function expandedSize(data: Uint8Array): number | undefined {
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (view.length < 6 || view.readUInt32LE(0) !== MAGIC) return undefined;
  const descriptor = view.readUInt8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 1 << sizeFlag;
  const sizeAt = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes;
  const blocksAt = sizeAt + sizeBytes;
  if (sizeBytes === 0 || view.length < blocksAt) return undefined;
  const end = endOfBlocks(view, blocksAt);
  if (end === undefined || end + ((descriptor & 4) === 0 ? 0 : CHECKSUM_BYTES) !== view.length) return undefined;
  switch (sizeBytes) {
    case 1:
      return view.readUInt8(sizeAt);
    case 2:
      return view.readUInt16LE(sizeAt) + 256;
    case 4:
      return view.readUInt32LE(sizeAt);
    default:
      return Number(view.readBigUInt64LE(sizeAt));
  }
}

function endOfBlocks(view: Buffer, start: number): number | undefined {
  for (let at = start; at + BLOCK_HEADER_BYTES <= view.length; ) {
    const header = view.readUIntLE(at, BLOCK_HEADER_BYTES);
    const isRepeatedByte = ((header >> 1) & 3) === 1;
    at += BLOCK_HEADER_BYTES + (isRepeatedByte ? 1 : header >> 3);
    if ((header & 1) === 1) return at;
  }
  return undefined;
}
